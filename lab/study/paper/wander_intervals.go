package paper

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// wanderIntervals is table 4.
func wanderIntervals() study.Experiment {
	return longRuns("wander-intervals", func(runs [][]long) study.Result {
		all := compareFleets("Intervals between operations", "interval from, s", "intervals", 500, 500, tableFour(),
			runs,
			means(func(l *long, row int) float64 { return at(l.undisturbed.bins, row+1) }))
		return study.Result{
			Comparisons: all, Plots: drawn("wander-intervals", all, true),
			Tables: []report.Table{allIntervalsTable(runs), missingTable(runs)},
		}
	})
}

// allIntervalsTable has every interval; none is left out.
func allIntervalsTable(runs [][]long) report.Table {
	t := report.Table{
		Title: "All intervals, none left out",
		Header: []string{
			"interval from, s", "published, N = 150", "measured", "± 95 %", "published, N = 300", "measured", "± 95 %",
		},
	}
	for row := range 13 {
		from := paperBin * time.Duration(row+1)
		cells := []string{report.Number(from.Seconds())}
		for i, published := range tableFour() {
			e := measure.EstimateBy(runs[i], func(l *long) float64 { return between(&l.figures, from, from+paperBin) })
			cells = slices.Concat(cells, []string{report.Number(at(published.rows, row))}, written(e, report.Number))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// missingTable compares the operations that have no interval with the tokens that were made.
func missingTable(runs [][]long) report.Table {
	t := report.Table{
		Title:  "Operations of table 3 that have no interval in table 4",
		Header: []string{"members", "published", "measured: intervals left out", "± 95 %", "tokens made", "± 95 %"},
	}
	for i, members := range fleets() {
		t.Rows = append(t.Rows, slices.Concat(
			[]string{
				fmt.Sprint(members), report.Number(math.Round(tableThree()[i].operations() - tableFour()[i].sum())),
			},
			written(measure.EstimateBy(runs[i], func(l *long) float64 { return l.undisturbed.disturbed }),
				report.Number),
			written(measure.EstimateBy(runs[i], func(l *long) float64 { return value(l.figures.Tokens.Generated) }),
				report.Number),
		))
	}
	return t
}
