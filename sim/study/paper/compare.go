package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study/report"
)

// compare puts what was measured beside what was published. Without measurements it is what was published alone.
func compare(title, what, unit string, labels []string, published []float64, measured []measure.Estimate) report.Comparison {
	c := report.Comparison{Title: title, What: what, Unit: unit}
	for i, label := range labels {
		row := report.Compared{Label: label, Published: published[i], Measured: math.NaN(), Half: math.NaN()}
		if measured != nil {
			row.Measured, row.Half = float64(measured[i].Mean), float64(measured[i].Half)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// estimates returns what runs say of each row.
func estimates(rows int, runs int, value func(run, row int) float64) []measure.Estimate {
	all := make([]measure.Estimate, rows)
	samples := make([]measure.Number, runs)
	for row := range all {
		for run := range samples {
			samples[run] = measure.Number(value(run, row))
		}
		all[row] = measure.EstimateOf(samples...)
	}
	return all
}

// outside returns the rows whose published number is not what one more run would give: 95 % of all runs lie within as many
// standard deviations of the mean, which is known from the others only.
func outside(c report.Comparison, runs int) []string {
	var labels []string
	for _, r := range c.Rows {
		if math.Abs(r.Published-r.Measured) > r.Half*math.Sqrt(float64(runs+1)) {
			labels = append(labels, r.Label)
		}
	}
	return labels
}

// noiseNote says how many of the published numbers one more run might have given.
func noiseNote(c report.Comparison, runs int) string {
	if runs < 2 {
		return "One run says nothing of the noise: take more seeds."
	}
	out := outside(c, runs)
	s := fmt.Sprintf("%d of %d published numbers are within the 95 %% that one run of ours would vary by",
		len(c.Rows)-len(out), len(c.Rows))
	if len(out) > 0 {
		s += "; not those of " + strings.Join(out, ", ")
	}
	return s + "."
}

// numbered returns "1", "2"… as labels.
func numbered(n int) []string { return stepped(1, 1, n) }

// stepped returns n labels from first, step apart.
func stepped(first, step, n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(first + i*step)
	}
	return labels
}

// percent writes a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// inName is the name of a file about one fleet.
func inName(name string, members int) string { return fmt.Sprintf("%s-%d", name, members) }

// inTitle completes the title of what is about one fleet.
func inTitle(title string, members int) string { return fmt.Sprintf("%s, N = %d", title, members) }
