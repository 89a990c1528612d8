package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// burstLength is the part of a stabilisation that is shown: "it may take a long time before the system goes back to its
// normal behavior (approx 20000 time units)" (section 5.1).
const burstLength = 20_000 * time.Second

// wanderBurst is figure 1.
func wanderBurst() study.Experiment {
	return study.Surveyed("wander-burst", []int{study.Overload}, study.Usually[int](20),
		func(ctx context.Context, members *int, seed uint64) (burst, error) {
			t, err := loseToken(ctx, *members, seed, burstLength, stabilisationLimit)
			if err != nil {
				return burst{}, err
			}
			quiet := quietTimes()[0].Seconds()
			return burst{t, [2]float64{t.stable[0].Seconds(), stabilisation(fixedGen(), *members, seed, quiet)}}, nil
		}, func(runs [][]burst) study.Result {
			r := study.Result{Comparisons: []report.Comparison{burstTable(runs[0])}}
			if len(runs[0]) > 0 {
				r.Tables = []report.Table{levelTable(runs[0])}
				r.Plots = []study.Plot{{Name: "wander-burst", Chart: burstChart(runs[0][0].busy)}}
			}
			return r
		})
}

// burst is one loss: of the machines, and of the model with Δgen fixed, which is what section 5.1 has when it shows
// figure 1.
type burst struct {
	transient
	// lengths are the durations of both, in seconds. They are negative if over the limit.
	lengths [2]float64
}

func burstTable(losses []burst) report.Comparison {
	return compare(inTitle("Length of one stabilisation", study.Overload), "Δgen", "s",
		[]string{
			"adaptive, the machines", "fixed, the model of wander-variants",
		}, []float64{math.NaN(), burstLength.Seconds()},
		func(row int) measure.Estimate {
			return measure.EstimateBy(losses, func(b *burst) float64 {
				if l := b.lengths[row]; l >= 0 {
					return l
				}
				return math.NaN()
			})
		})
}

// levelTable counts the units of time with each number of operations.
func levelTable(losses []burst) report.Table {
	const levels = 9
	t := report.Table{
		Title:  "The first 20000 s after a loss, N = 300: units of one second in which so many operations ran",
		Header: []string{"operations", "units", "± 95 %"},
	}
	for level := range levels {
		e := measure.EstimateBy(losses, func(b *burst) float64 {
			n := 0.0
			for _, busy := range b.busy[:int(burstLength.Seconds())] {
				if r := int(busy + 0.5); r == level || level == levels-1 && r > level {
					n++
				}
			}
			return n
		})
		label := fmt.Sprint(level)
		if level == levels-1 {
			label += " or more"
		}
		t.Rows = append(t.Rows, append([]string{label}, written(e, report.Number)...))
	}
	return t
}

// burstChart draws the busiest second of every fifty: more seconds could not be distinguished.
func burstChart(busy []float64) report.Chart {
	const together = 50
	var x, most []float64
	for from := 0; from+together <= int(burstLength.Seconds()); from += together {
		x, most = append(x, float64(from)), append(most, slices.Max(busy[from:from+together]))
	}
	return report.Chart{
		Title: "Operations running after the loss of the token, N = 300, one run",
		X:     "seconds after the loss", Y: "operations in the busiest of 50 seconds",
		Curves: []report.Curve{{X: x, Y: most, Mark: report.Steps}},
	}
}
