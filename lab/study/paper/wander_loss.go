package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// durationBin is the width of the bins of table 5.
const durationBin = 5000 * time.Second

// publishedFrom is where the bins of table 5 begin.
const publishedFrom = 2

// wanderLoss is table 5.
func wanderLoss() study.Experiment {
	return study.Surveyed("wander-loss", fleets(), study.Usually[int](100),
		func(ctx context.Context, members *int, seed uint64) (transient, error) {
			return loseToken(ctx, *members, seed, 0, stabilisationLimit)
		}, func(losses [][]transient) study.Result {
			published := tableFive()
			for i := range published {
				published[i].rows = slices.Concat(make([]float64, publishedFrom), published[i].rows)
			}
			all := compareFleets("Duration of stabilisation after a loss", "duration from, s", "of 100 losses",
				0, int(durationBin.Seconds()), published, losses, perHundred)
			return study.Result{
				Comparisons: all, Plots: drawn("wander-loss", all, false),
				Tables: []report.Table{stableTable(losses), duringTable(losses)},
			}
		})
}

// perHundred counts the durations of a bin, by the ruling, as if there had been a hundred losses. The confidence
// interval is that of a share.
func perHundred(losses []transient, bin int) measure.Estimate {
	n, hits := float64(len(losses)), 0.0
	for _, l := range losses {
		if d := l.stable[ruling]; d >= 0 && int(d/durationBin) == bin {
			hits++
		}
	}
	share := hits / n
	return measure.Estimate{
		Samples: len(losses), Mean: measure.Number(100 * share),
		Half: measure.Number(100 * 1.96 * math.Sqrt(share*(1-share)/n)),
	}
}

// stableTable shows how much depends on the meaning of stable.
func stableTable(losses [][]transient) report.Table {
	t := report.Table{
		Title: "What it takes to be stable: exactly one token for how long",
		Header: []string{
			"members, one token for", "p10, s", "p50, s", "p90, s", "longest, s", "below 10000 s",
			"not within 200000 s",
		},
	}
	for of, members := range fleets() {
		for i, quiet := range quietTimes() {
			durations := make([]float64, len(losses[of]))
			for run, l := range losses[of] {
				durations[run] = l.stable[i].Seconds()
			}
			over, below, never := sorted(durations, (publishedFrom * durationBin).Seconds())
			n := float64(max(len(durations), 1))
			cells := []string{fmt.Sprintf("%d, %.0f s", members, quiet.Seconds())}
			for _, p := range []float64{0.1, 0.5, 0.9, 1} {
				cells = append(cells, report.Number(math.Round(quantile(over, p))))
			}
			t.Rows = append(t.Rows, append(cells, report.Percent(below/n), report.Percent(never/n)))
		}
	}
	return t
}

// sorted returns, in order, the times until a fleet was stable, leaving out those that never came about. It also
// returns how many were below a limit, and how many are negative because they never came about.
func sorted(durations []float64, limit float64) (over []float64, below, never float64) {
	for _, d := range durations {
		switch {
		case d < 0:
			never++
			continue
		case d < limit:
			below++
		}
		over = append(over, d)
	}
	slices.Sort(over)
	return over, below, never
}

// quantile returns a quantile of sorted samples. It is NaN if there are none.
func quantile(samples []float64, p float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	return stat.Quantile(p, stat.Empirical, samples, nil)
}

// duringTable has section 6's statements about the time until the fleet is stable again.
func duringTable(losses [][]transient) report.Table {
	t := report.Table{
		Title: "During stabilisation: shares of the time, and of the intervals",
		Header: []string{
			"what", "published, N = 150", "measured", "± 95 %", "published, N = 300", "measured", "± 95 %",
		},
	}
	for _, line := range []struct {
		what      string
		published [2]string
		share     func(f *measure.Figures) float64
	}{
		{"two or more operations at once", [2]string{"3 %", "9 %"}, func(f *measure.Figures) float64 {
			return value(f.Overlap)
		}},
		{"more than five at once", [2]string{report.Missing, "0.015 %"}, func(f *measure.Figures) float64 {
			return sharedBy(f, 6)
		}},
		{"intervals over 3000 s", [2]string{report.Missing, "almost 15 %"}, func(f *measure.Figures) float64 {
			return between(f, 6*paperBin, math.MaxInt64) / between(f, 0, math.MaxInt64)
		}},
	} {
		cells := []string{line.what}
		for i := range losses {
			e := measure.EstimateBy(losses[i], func(l *transient) float64 { return line.share(&l.figures) })
			cells = slices.Concat(cells, []string{line.published[i]}, written(e, report.Percent))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
