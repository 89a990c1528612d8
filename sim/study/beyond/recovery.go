package beyond

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/wanderd/wanderd/sim/study/report"
)

// spread is the distribution of some times, in seconds; not numbers if there are none.
type spread struct{ p50, p90, longest float64 }

func spreadOf(samples []time.Duration) spread {
	if len(samples) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := make([]float64, len(samples))
	for i, d := range samples {
		sorted[i] = d.Seconds()
	}
	slices.Sort(sorted)
	return spread{
		p50: stat.Quantile(0.5, stat.Empirical, sorted, nil), p90: stat.Quantile(0.9, stat.Empirical, sorted, nil),
		longest: sorted[len(sorted)-1],
	}
}

// String writes the spread in the order of its fields.
func (s spread) String() string {
	if math.IsNaN(s.p50) {
		return report.Missing
	}
	return report.Number(s.p50) + " / " + report.Number(s.p90) + " / " + report.Number(s.longest)
}

// recovered is how a fleet got over all faults of one kind.
type recovered struct {
	count int
	// held are the times until somebody held a token again, single those until there was exactly one for good, where that came
	// about within patience; never counts where it did not.
	held, single spread
	never        int
}

func (l *line) recovered(what fault) recovered {
	var r recovered
	var held, single []time.Duration
	for _, one := range l.recoveries() {
		if one.fault != what {
			continue
		}
		r.count++
		if one.held >= 0 {
			held = append(held, one.held)
		}
		if one.single >= 0 {
			single = append(single, one.single)
		} else {
			r.never++
		}
	}
	r.held, r.single = spreadOf(held), spreadOf(single)
	return r
}

// cells writes both spreads.
func (r *recovered) cells() (held, single string) {
	single = r.single.String()
	if r.never > 0 {
		single += fmt.Sprintf(" (%d not within %v s)", r.never, patience.Seconds())
	}
	return r.held.String(), single
}

// crowded is for how long two or more operations ran at once while the fleet got over a fault, in seconds: on average, and at
// most.
func (l *line) crowded() (mean, most float64) {
	all := l.recoveries()
	for _, one := range all {
		mean, most = mean+one.overlap.Seconds(), max(most, one.overlap.Seconds())
	}
	return mean / float64(len(all)), most
}

// recoveryTable is about the lines of one world.
func recoveryTable(lines []line) report.Table {
	t := report.Table{
		Title: lines[0].world.title("After a fault"), Header: []string{"members, rules", "faults of a kind"},
		Notes: []string{"p50 / p90 / longest, from the fault, in seconds; of two at once the mean of all faults, and the most."},
	}
	for what := range faultsEnd {
		t.Header = append(t.Header, what.String()+": held again", "one for good")
	}
	t.Header = append(t.Header, "two at once")
	for i := range lines {
		l := &lines[i]
		if l.faults == 0 {
			continue
		}
		row := []string{l.label(), report.Number(float64(l.recovered(lostCommit).count))}
		for what := range faultsEnd {
			r := l.recovered(what)
			held, single := r.cells()
			row = append(row, held, single)
		}
		crowded := report.Missing
		if mean, most := l.crowded(); !math.IsNaN(mean) {
			crowded = report.Number(mean) + " / " + report.Number(most)
		}
		t.Rows = append(t.Rows, append(row, crowded))
	}
	return t
}
