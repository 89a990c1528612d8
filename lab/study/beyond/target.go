package beyond

import (
	"cmp"
	"fmt"
	"math"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/report"
)

// target is a bound to be reached.
type target struct {
	// what names what is measured, and where. published is what the paper says about it, if anything.
	what, published string
	// measured must be at most limit or, if least is set, at least limit.
	measured, limit float64
	least           bool
	// write formats both.
	write func(float64) string
}

// met reports whether the target is reached. A missing measurement does not reach it.
func (t *target) met() bool {
	if t.least {
		return t.measured >= t.limit
	}
	return t.measured <= t.limit
}

func targetTable(targets []target) report.Table {
	table := report.Table{
		Title: "What was to be reached", Header: []string{"what", "published", "to reach", "measured", ""},
	}
	for i := range targets {
		t := &targets[i]
		bound, outcome := "at most ", "not met"
		switch {
		case t.least:
			bound = "at least "
		case t.limit == 0:
			bound = ""
		}
		switch {
		case math.IsNaN(t.measured):
			outcome = report.Missing
		case t.met():
			outcome = "met"
		}
		table.Rows = append(table.Rows, []string{
			t.what, cmp.Or(t.published, report.Missing), bound + t.write(t.limit), t.write(t.measured), outcome,
		})
	}
	return table
}

// judged tells how many targets were met, and which were not.
func judged(targets []target) study.Figures {
	var missed []string
	for i := range targets {
		if !targets[i].met() {
			missed = append(missed, targets[i].what)
		}
	}
	return study.Figures{"met": len(targets) - len(missed), "all": len(targets), "missed": missed}
}

func (l *line) where() string { return l.world.title(l.label()) }

// target returns an upper bound, with the paper's figure for its own fleets.
func (l *line) target(what, ofNominal, ofOverload string, measured, limit float64, write func(float64) string) target {
	return target{
		what: what + ": " + l.where(), published: byFleet(l.members, ofNominal, ofOverload), measured: measured,
		limit: limit, write: write,
	}
}

// byFleet returns the published figure of one of the paper's fleets.
func byFleet(members int, ofNominal, ofOverload string) string {
	return map[int]string{study.Nominal: ofNominal, study.Overload: ofOverload}[members]
}

// each makes a target for every line of these walks.
func each(all []line, which func(*rules) bool, of func(*line) target) []target {
	var targets []target
	for i := range all {
		if which(&all[i].rules) {
			targets = append(targets, of(&all[i]))
		}
	}
	return targets
}

// ours reports whether rules are wanderd's, with any walk.
func ours(r *rules) bool { return !r.isPaper() }

// recoveryTargets bound the time from a fault until there is one token for good, on every walk: 1.5 × skip in the
// median, 2.5 × skip at most. If two members crash together, only the second bound applies.
func recoveryTargets(all []line) []target {
	var targets []target
	for what := range faultsEnd {
		for _, fleet := range study.Grouped(all, func(l *line) int { return l.members }) {
			median, longest := math.Inf(-1), math.Inf(-1)
			for i := range fleet {
				if ours(&fleet[i].rules) {
					single := fleet[i].recovered(what).single
					median, longest = max(median, float64(single.P50)), max(longest, float64(single.Max))
				}
			}
			name := fmt.Sprintf("recovery after %v: %d, slowest walk", what, fleet[0].members)
			if what != crashedBoth {
				targets = append(targets, target{
					what: "median " + name, published: byFleet(fleet[0].members, "about 20000 s", "about 40000 s"),
					measured: median, limit: 1.5 * study.Skip.Seconds(), write: inSeconds,
				})
			}
			targets = append(targets, target{
				what: "longest " + name, measured: longest, limit: 2.5 * study.Skip.Seconds(), write: inSeconds,
			})
		}
	}
	return targets
}

func inSeconds(v float64) string {
	if math.IsNaN(v) {
		return report.Missing
	}
	return report.Number(v) + " s"
}
