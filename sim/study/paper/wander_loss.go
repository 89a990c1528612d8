package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// durationBin is the width of the bins of table 5.
const durationBin = 5000 * time.Second

// publishedFrom is where the bins of table 5 begin.
const publishedFrom = 2

// wanderLoss is table 5.
func wanderLoss() study.Experiment {
	return study.Experiment{
		Name: "wander-loss", Title: "Wandering token: how long it takes to get over the loss of the token",
		Source: "table 5, section 6",
		Shows: "\"The transient following a token loss event is a critical issue: its length is relevant, […] and its distribution is " +
			"dispersed.\" One hundred losses of the only token there is.",
		Published: durationTables(nil),
		Against:   against,
		Do:        runWanderLoss,
	}
}

// durationTables compares the durations of stabilisation by the ruling, as counts per hundred losses.
func durationTables(losses map[int][]transient) []report.Comparison {
	var all []report.Comparison
	for _, p := range tableFive() {
		rows := publishedFrom + len(p.rows)
		published := slices.Concat(make([]float64, publishedFrom), p.rows)
		labels := stepped(0, int(durationBin.Seconds()), rows)
		var measured []measure.Estimate
		if there := losses[p.members]; len(there) > 0 {
			measured = perHundred(there, rows)
		}
		c := compare(inTitle("Duration of stabilisation after a loss", p.members), "duration from, s", "of 100 losses",
			labels, published, measured)
		c.Notes = []string{"Stable: from the loss until the moment from which exactly one token exists for at least Δmax. The paper " +
			"does not say what it takes for stable."}
		all = append(all, c)
	}
	return all
}

// perHundred counts durations by bins. Half the width of the confidence interval is that of a share.
func perHundred(losses []transient, bins int) []measure.Estimate {
	counts := make([]measure.Estimate, bins)
	n := float64(len(losses))
	for bin := range counts {
		hits := 0.0
		for _, l := range losses {
			if d := l.stable[ruling]; d >= 0 && int(d/durationBin) == bin {
				hits++
			}
		}
		share := hits / n
		counts[bin] = measure.Estimate{
			Samples: len(losses), Mean: measure.Number(100 * share),
			Half: measure.Number(100 * 1.96 * math.Sqrt(share*(1-share)/n)),
		}
	}
	return counts
}

func runWanderLoss(ctx context.Context, o study.Options) (study.Result, error) {
	seeds := o.SeedsOr(100)
	losses, err := inFleets(ctx, o, fleets(), seeds, func(ctx context.Context, members int, seed uint64) (transient, error) {
		return loseToken(ctx, members, seed, 0, stabilisationLimit)
	})
	r := study.Result{Wanted: seeds * len(fleets()), Comparisons: durationTables(losses)}
	for i, members := range fleets() {
		r.Runs += len(losses[members])
		r.Plots = append(r.Plots, study.Plot{Name: inName("wander-loss", members), Chart: r.Comparisons[i].Chart(false)})
	}
	r.Tables = []report.Table{stableTable(losses), duringTable(losses)}
	r.Verdict = "N = 150: losses are over sooner; N = 300: reproduced in shape, if stable means less than Δmax"
	r.Notes = []string{
		"The printed column of N = 300 adds up to 99 losses, not 100, and no printed duration is below 10000.",
		"N = 150: most losses are over within an hour or three. The slow ones, of up to twelve hours, are the paper's domino: \"all " +
			"regenerated tokens may disappear\", removed by members that ran under the lost one. The paper has more than twice as many of " +
			"them. Its simulator seems to count the making of a token as a run, as figure 2 does to the letter: that alone comes near to " +
			"its share and its quantiles (wander-variants).",
		"N = 300: an overloaded fleet makes a spurious token about once a minute, so it is rarely left with exactly one for as long as " +
			"Δmax, loss or no loss. With Δmin instead, the measured durations lie as the printed ones do.",
	}
	return r, err
}

// stableTable shows how much depends on what stable means.
func stableTable(losses map[int][]transient) report.Table {
	t := report.Table{
		Title:  "What it takes to be stable: exactly one token for how long",
		Header: []string{"members, one token for", "p10, s", "p50, s", "p90, s", "longest, s", "below 10000 s", "not within 200000 s"},
	}
	for _, members := range fleets() {
		for i, quiet := range quietTimes() {
			t.Rows = append(t.Rows, append([]string{fmt.Sprintf("%d, %.0f s", members, quiet.Seconds())},
				durationCells(losses[members], i)...))
		}
	}
	return t
}

func durationCells(losses []transient, notion int) []string {
	var d []float64
	never, below := 0, 0
	for _, l := range losses {
		switch s := l.stable[notion]; {
		case s < 0:
			never++
		case s < publishedFrom*durationBin:
			below++
			fallthrough
		default:
			d = append(d, s.Seconds())
		}
	}
	n := float64(max(len(losses), 1))
	cells := []string{report.Missing, report.Missing, report.Missing, report.Missing}
	if len(d) > 0 {
		slices.Sort(d)
		for i, p := range []float64{0.1, 0.5, 0.9, 1} {
			cells[i] = report.Number(math.Round(stat.Quantile(p, stat.Empirical, d, nil)))
		}
	}
	return append(cells, report.Percent(float64(below)/n), report.Percent(float64(never)/n))
}

// duringTable is what section 6 says of the time until the fleet is stable again.
func duringTable(losses map[int][]transient) report.Table {
	t := report.Table{
		Title:  "During stabilisation: shares of the time, and of the intervals",
		Header: []string{"what", "published, N = 150", "measured", "± 95 %", "published, N = 300", "measured", "± 95 %"},
	}
	for _, line := range []struct {
		what      string
		published [2]string
		share     func(f *measure.Figures) float64
	}{
		{"two or more operations at once", [2]string{"3 %", "9 %"}, func(f *measure.Figures) float64 { return value(f.Overlap) }},
		{"more than five at once", [2]string{report.Missing, "0.015 %"}, func(f *measure.Figures) float64 {
			return sharedBy(f, 6)
		}},
		{"intervals over 3000 s", [2]string{report.Missing, "almost 15 %"}, func(f *measure.Figures) float64 {
			return between(*f, 6*paperBin, math.MaxInt64) / between(*f, 0, math.MaxInt64)
		}},
	} {
		cells := []string{line.what}
		for i, members := range fleets() {
			e := mean(losses[members], func(l *transient) float64 { return line.share(&l.figures) })
			cells = append(cells, line.published[i], report.Percent(float64(e.Mean)), report.Percent(float64(e.Half)))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// sharedBy is the share of time with so many operations at once, or more.
func sharedBy(f *measure.Figures, least float64) float64 {
	spent := 0.0
	for _, e := range f.Concurrency {
		if e.Key >= least {
			spent += value(e.Value)
		}
	}
	return spent / value(f.Duration)
}
