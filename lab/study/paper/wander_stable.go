package paper

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// wanderStable is table 3.
func wanderStable() study.Experiment {
	return longRuns("wander-stable", func(runs [][]long) study.Result {
		all := compareFleets("Wandering token", "operations at once", "s", 1, 1, tableThree(), runs,
			means(func(l *long, row int) float64 { return value(l.figures.Concurrency.At(float64(row + 1))) }))
		busy := measure.EstimateBy(runs[1], func(l *long) float64 { return value(l.figures.Utilisation) })
		return study.Result{
			Comparisons: all, Plots: drawn("wander-stable", all, true),
			Tables: []report.Table{busyTable(runs), beginningTable(runs[1])},
			Figures: study.Figures{
				"busy": value(busy.Mean), "closedForm": percent(busyShare(study.Overload)),
				"published": percent(tableThree()[1].sum() / longRun.Seconds()),
			},
		}
	})
}

// busyTable puts the share of busy time beside that of a single token, by a closed form.
func busyTable(runs [][]long) report.Table {
	t := report.Table{
		Title: "Share of the time with at least one operation",
		Header: []string{
			"members", "closed form", "published", "measured", "± 95 %", "two or more, published",
			"two or more, measured",
		},
	}
	for i, published := range tableThree() {
		busy := written(measure.EstimateBy(runs[i], func(l *long) float64 { return value(l.figures.Utilisation) }),
			report.Percent)
		overlap := written(measure.EstimateBy(runs[i], func(l *long) float64 { return value(l.figures.Overlap) }),
			report.Percent)
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(published.members), percent(busyShare(published.members)),
			percent(published.sum() / longRun.Seconds()),
			busy[0], busy[1], percent((published.sum() - published.rows[0]) / longRun.Seconds()), overlap[0],
		})
	}
	return t
}

// beginningTable separates the first hour of the overloaded fleet from all the rest.
func beginningTable(runs []long) report.Table {
	t := report.Table{
		Title:  "N = 300: the first hour and all that follows, in seconds",
		Header: []string{"operations at once", "published", "first hour", "± 95 %", "after it", "± 95 %"},
	}
	for i, published := range tableThree()[1].rows {
		beginning := func(l *long) float64 { return value(l.beginning.Concurrency.At(float64(i + 1))) }
		rest := func(l *long) float64 { return value(l.figures.Concurrency.At(float64(i+1))) - beginning(l) }
		t.Rows = append(t.Rows, slices.Concat([]string{fmt.Sprint(i + 1), report.Number(published)},
			written(measure.EstimateBy(runs, beginning), report.Number),
			written(measure.EstimateBy(runs, rest), report.Number)))
	}
	return t
}
