package paper

import (
	"math"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// wanderBackbone is the case study of section 7.
func wanderBackbone() study.Experiment {
	return longRuns("wander-backbone", func(runs [][]long) study.Result {
		return study.Result{
			Comparisons: []report.Comparison{backboneTable(runs)},
			Plots:       []study.Plot{{Name: "wander-backbone", Chart: waitsChart(runs)}},
		}
	})
}

// backboneTable has the sentences that can be checked, in the order of the paper, each as a percentage.
func backboneTable(runs [][]long) report.Comparison {
	c := report.Comparison{Title: "The case study", What: "claim", Unit: "%"}
	claim := func(label string, published float64, e measure.Estimate) {
		c.Rows = append(c.Rows, report.Compared{
			Label: label, Published: published, Measured: value(e.Mean), Half: value(e.Half),
		})
	}
	// "80% of the times the applications have access to the backbone within 2 ∗ Δmin"
	claim("N = 150: waits within 2 × Δmin", 80, measure.EstimateBy(runs[0], func(l *long) float64 {
		return l.within(2 * study.MinInterval)
	}))
	// "Occasionally (less than one percent of the time) two or more applications are allowed to use the backbone"
	claim("N = 150: two or more at once (less than)", 1,
		measure.EstimateBy(runs[0], func(l *long) float64 { return 100 * value(l.figures.Overlap) }))
	// "The period between successive data transfers is 90% of the times lower than 3 ∗ Δmin"
	claim("N = 300: waits within 3 × Δmin", 90, measure.EstimateBy(runs[1], func(l *long) float64 {
		return l.within(3 * study.MinInterval)
	}))
	// "the event that more than 3 data transfers are occurring simultaneously is rare"
	claim("N = 300: more than three at once (\"rare\")", math.NaN(),
		measure.EstimateBy(runs[1], func(l *long) float64 { return 100 * sharedBy(&l.figures, 4) }))
	// "this reflects the increased number of users of the shared resource, and should slow down the application of
	// approximately 30%"
	claim("N = 300: longer from one operation to the next by", 30, longerWith(runs))
	return c
}

// longerWith compares the mean intervals of two fleets, run by run.
func longerWith(runs [][]long) measure.Estimate {
	samples := make([]measure.Number, min(len(runs[0]), len(runs[1])))
	for i := range samples {
		few, many := runs[0][i].figures, runs[1][i].figures
		ratio := (study.Overload / value(many.Operations)) / (study.Nominal / value(few.Operations))
		samples[i] = measure.Number(100 * (ratio - 1))
	}
	return measure.EstimateOf(samples...)
}

func waitsChart(runs [][]long) report.Chart {
	chart := report.Chart{
		Title: "Waits that are over by then, case study", X: "seconds since the last operation", Y: "share, %",
	}
	for i, members := range fleets() {
		k := report.Curve{Name: inTitle("measured", members)}
		for at := fineBin; at <= 8*study.MinInterval; at += fineBin {
			e := measure.EstimateBy(runs[i], func(l *long) float64 { return l.within(at) })
			k.X, k.Y = append(k.X, at.Seconds()), append(k.Y, value(e.Mean))
		}
		chart.Curves = append(chart.Curves, k)
	}
	chart.Curves = append(chart.Curves, report.Curve{
		Name: "published", Mark: report.Dots, Published: true,
		X: []float64{2 * study.MinInterval.Seconds(), 3 * study.MinInterval.Seconds()}, Y: []float64{80, 90},
	})
	return chart
}
