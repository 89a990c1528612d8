package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/wanderd/wanderd/sim/study/report"
)

// variantLossTable is what table 5 becomes under each reading.
func variantLossTable(all []reading, runs []variantRun, members int) report.Table {
	const first = 15_000
	t := report.Table{
		Title:  inTitle("Readings of the paper: losses of the token", members),
		Header: []string{"reading", "stable within 15000, %", "p50, s", "p90, s", "longest, s", "not within 200000 s, %"},
		Notes: []string{fmt.Sprintf("Stable: exactly one token for at least %.0f units. The published quantiles are the lower ends of "+
			"bins of 5000.", quietFor(members).Seconds())},
	}
	published := of(tableFive(), members)
	row := []string{"published", fmt.Sprintf("%.0f", 100*published.rows[0]/published.sum())}
	for _, p := range []float64{0.5, 0.9, 1} {
		row = append(row, report.Number(published.quantile(p, publishedFrom*durationBin.Seconds(), durationBin.Seconds())))
	}
	t.Rows = append(t.Rows, append(row, "0"))
	for i, r := range all {
		var stable []float64
		early, never := 0.0, 0.0
		for _, v := range runs {
			if v.reading != i || v.members != members {
				continue
			}
			for _, d := range v.stable {
				switch {
				case d < 0:
					never++
					d = math.Inf(1)
				case d < first:
					early++
				}
				stable = append(stable, d)
			}
		}
		if n := float64(len(stable)); n > 0 {
			slices.Sort(stable)
			cells := []string{r.name, fmt.Sprintf("%.0f", 100*early/n)}
			for _, p := range []float64{0.5, 0.9, 1} {
				cells = append(cells, finite(stat.Quantile(p, stat.Empirical, stable, nil)))
			}
			t.Rows = append(t.Rows, append(cells, fmt.Sprintf("%.0f", 100*never/n)))
		}
	}
	return t
}

// finite writes a time, or that it has not come.
func finite(v float64) string {
	if math.IsInf(v, 0) {
		return report.Missing
	}
	return fmt.Sprintf("%.0f", v)
}
