package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

// burstLength is how much is shown of a stabilisation: "it may take a long time before the system goes back to its normal
// behavior (approx 20000 time units)" (section 5.1).
const burstLength = 20_000 * time.Second

// wanderBurst is figure 1.
func wanderBurst() study.Experiment {
	return study.Experiment{
		Name: "wander-burst", Title: "Wandering token: operations running during one stabilisation", Source: "figure 1, section 5.1",
		Shows: "What an overloaded fleet does after it has lost its token: silence, several tokens at once, and silence again, until one " +
			"of them survives.",
		Published: []report.Comparison{burstTable(nil)},
		Against:   against,
		Do:        runWanderBurst,
	}
}

// burst is one loss: of the machines, and of the model with Δgen fixed, which is what section 5.1 has when it shows figure 1.
type burst struct {
	transient
	// lengths are how long both took, in seconds; not a number if it was too long.
	lengths [2]measure.Number
}

func loseBoth(ctx context.Context, seed uint64) (burst, error) {
	t, err := loseToken(ctx, study.Overload, seed, burstLength, stabilisationLimit)
	if err != nil {
		return burst{}, err
	}
	quiet := quietTimes()[0].Seconds()
	b := burst{transient: t, lengths: [2]measure.Number{
		measure.Number(t.stable[0].Seconds()), measure.Number(stabilisation(fixedGen(), study.Overload, seed, quiet)),
	}}
	for i, l := range b.lengths {
		if l < 0 {
			b.lengths[i] = measure.Number(math.NaN())
		}
	}
	return b, nil
}

func burstTable(losses []burst) report.Comparison {
	var measured []measure.Estimate
	if len(losses) > 0 {
		measured = estimates(2, len(losses), func(run, row int) float64 { return value(losses[run].lengths[row]) })
	}
	c := compare(inTitle("Length of one stabilisation", study.Overload), "Δgen", "s",
		[]string{"adaptive, the machines", "fixed, the model of wander-variants"},
		[]float64{math.NaN(), burstLength.Seconds()}, measured)
	c.Notes = []string{"Published: \"approx 20000 time units\", said before section 5.1 makes Δgen adaptive. Measured: until there is exactly " +
		"one token for half of Δmin; for longer there hardly ever is in this fleet. The figure itself is a curve without numbers."}
	return c
}

func runWanderBurst(ctx context.Context, o study.Options) (study.Result, error) {
	seeds := o.SeedsOr(20)
	losses, err := study.Across(ctx, o, seeds, func(ctx context.Context, job int) (burst, error) {
		return loseBoth(ctx, uint64(job)+1)
	})
	r := study.Result{Runs: len(losses), Wanted: seeds, Comparisons: []report.Comparison{burstTable(losses)}}
	if len(losses) == 0 {
		return r, err
	}
	r.Verdict = "same picture; it lasts half as long again with Δgen fixed, and more than twice as long with Δgen adaptive"
	r.Notes = []string{
		"Most seconds pass without any operation, then a few tokens are there at a time, rarely with more than four operations.",
	}
	r.Tables = []report.Table{levelTable(losses)}
	r.Plots = []study.Plot{{Name: "wander-burst", Chart: burstChart(losses[0].busy)}}
	return r, err
}

// levelTable says how often so many operations ran in a unit of time.
func levelTable(losses []burst) report.Table {
	const levels = 9
	t := report.Table{
		Title:  "The first 20000 s after a loss, N = 300: units of one second in which so many operations ran",
		Header: []string{"operations", "units", "± 95 %"},
	}
	for level := range levels {
		e := mean(losses, func(b *burst) float64 {
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
		t.Rows = append(t.Rows, []string{label, report.Number(float64(e.Mean)), report.Number(float64(e.Half))})
	}
	return t
}

// burstChart draws the busiest second of every fifty: as many as the eye can tell apart.
func burstChart(busy []float64) report.Lines {
	const together = 50
	var x, most []float64
	for from := 0; from+together <= int(burstLength.Seconds()); from += together {
		x, most = append(x, float64(from)), append(most, slices.Max(busy[from:from+together]))
	}
	return report.Lines{
		Title: "Operations running after the loss of the token, N = 300, one run",
		X:     "seconds after the loss", Y: "operations in the busiest of 50 seconds",
		Curves: []report.Curve{{X: x, Y: most, Mark: report.Steps}},
	}
}
