package simulate

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// maxBars is the largest number of bars of a chart; the last one contains all longer intervals.
const maxBars = 40

// Chart returns a bar chart of the intervals between two operations of one member.
func (r *Result) Chart() report.Chart {
	histogram := measure.Across(r.Runs).Interval.Histogram
	chart := report.Chart{
		Title: r.title(), X: "interval between two operations of one member, s", Y: "intervals", Logarithmic: true,
		Bars: true,
	}
	bars := report.Curve{Name: "measured"}
	width := bin(r.Scenario.Interval())
	at := func(key float64) int { return int(math.Round(key / width.Seconds())) }
	first := 0
	if len(histogram) > 0 {
		first = at(histogram[0].Key)
	}
	for _, e := range histogram {
		bar := min(at(e.Key)-first, maxBars-1)
		for len(bars.Y) <= bar {
			from := time.Duration(first+len(bars.Y)) * width
			chart.Labels = append(chart.Labels, report.Number(from.Seconds()))
			bars.Y, bars.Halves = append(bars.Y, 0), append(bars.Halves, 0)
		}
		// A sum of bins has no confidence interval.
		bars.Halves[bar] = 0
		if bars.Y[bar] == 0 {
			bars.Halves[bar] = float64(e.Value.Half)
		}
		bars.Y[bar] += float64(e.Value.Mean)
	}
	if n := len(histogram); n > 0 && at(histogram[n-1].Key)-first >= maxBars {
		chart.Labels[maxBars-1] += " …"
	}
	if r.Scenario.Seeds == 1 {
		bars.Halves = nil
	}
	chart.Curves = []report.Curve{bars}
	return chart
}

// bin returns the width of the bins for intervals: the greatest of 1, 2 or 5 times a power of ten seconds that is not
// above min_interval. For the paper's 600 s it is 500 s, as in its table 4.
func bin(minInterval time.Duration) time.Duration {
	width := time.Microsecond
	for power := time.Microsecond; power <= minInterval; power *= 10 {
		for _, m := range []time.Duration{1, 2, 5} {
			if m*power <= minInterval {
				width = m * power
			}
		}
	}
	return width
}
