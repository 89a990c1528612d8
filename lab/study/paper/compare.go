package paper

import (
	"fmt"
	"strconv"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// compare puts measured figures beside the published ones, row by row.
func compare(title, what, unit string, labels []string, published []float64,
	measured func(row int) measure.Estimate,
) report.Comparison {
	c := report.Comparison{Title: title, What: what, Unit: unit}
	for row, label := range labels {
		e := measured(row)
		c.Rows = append(c.Rows, report.Compared{
			Label: label, Published: published[row], Measured: value(e.Mean), Half: value(e.Half),
		})
	}
	return c
}

// compareFleets does so for a printed table, whose labels are step apart, beginning with first, and for the runs of
// each of its fleets.
func compareFleets[T any](
	title, what, unit string, first, step int, printed []column, runs [][]T,
	measured func(runs []T, row int) measure.Estimate,
) []report.Comparison {
	var all []report.Comparison
	for i, p := range printed {
		all = append(all, compare(inTitle(title, p.members), what, unit, stepped(first, step, len(p.rows)), p.rows,
			func(row int) measure.Estimate { return measured(runs[i], row) }))
	}
	return all
}

// drawn draws comparisons, one for each fleet.
func drawn(name string, all []report.Comparison, logarithmic bool) []study.Plot {
	var plots []study.Plot
	for i, members := range fleets() {
		plots = append(plots, study.Plot{Name: fmt.Sprintf("%s-%d", name, members), Chart: all[i].Chart(logarithmic)})
	}
	return plots
}

// means returns a function that estimates each row of a figure over runs.
func means[T any](figure func(run *T, row int) float64) func(runs []T, row int) measure.Estimate {
	return func(runs []T, row int) measure.Estimate {
		return measure.EstimateBy(runs, func(run *T) float64 { return figure(run, row) })
	}
}

// written formats an estimate as two cells: its mean, and half the width of its confidence interval.
func written(e measure.Estimate, write func(float64) string) []string {
	return []string{write(value(e.Mean)), write(value(e.Half))}
}

func value(n measure.Number) float64 { return float64(n) }

// stepped returns n labels from first, step apart.
func stepped(first, step, n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(first + i*step)
	}
	return labels
}

// at returns the i-th value, or 0 if there are fewer.
func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}

// percent formats a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// inTitle completes the title of a table about one fleet.
func inTitle(title string, members int) string { return fmt.Sprintf("%s, N = %d", title, members) }
