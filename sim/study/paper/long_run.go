package paper

import (
	"context"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study"
)

// fineBin is the width of the bins in which a long run counts intervals: fine enough for whole multiples of Δmin.
const fineBin = 100 * time.Second

// startUp is how much of a long run is told apart as its beginning: until twice Δmax, all members that the token has not
// reached yet suspect its loss in the same instant.
const startUp = 2 * study.MaxInterval

// long is what one long run of the machines led to: as a whole, in its beginning alone, and by the intervals as table 4 seems
// to count them.
type long struct {
	figures, beginning measure.Figures
	undisturbed        *undisturbed
}

// runLong runs the paper's fleet "during a long run" (section 6), from its first second, as the paper does.
func runLong(ctx context.Context, members int, seed uint64, until time.Duration) (long, error) {
	meter := measure.New(measure.Config{Members: members, Quiet: study.MaxInterval, Bin: fineBin})
	run := long{undisturbed: newUndisturbed(members)}
	c := newCluster(members, seed, meter, run.undisturbed)
	err := pass(ctx, c, policy.Time(min(startUp, until)))
	run.beginning = meter.Figures(c.Now())
	if err == nil {
		err = pass(ctx, c, policy.Time(until))
	}
	run.figures = meter.Figures(c.Now())
	return run, err
}

func longRuns(ctx context.Context, o study.Options) (map[int][]long, int, error) {
	seeds := o.SeedsOr(10)
	runs, err := inFleets(ctx, o, fleets(), seeds, func(ctx context.Context, members int, seed uint64) (long, error) {
		return runLong(ctx, members, seed, longRun)
	})
	return runs, seeds * len(fleets()), err
}

// concurrency returns for how long how many operations ran at once.
func concurrency(f measure.Figures) []float64 {
	var spent []float64
	for _, e := range f.Concurrency {
		spent = append(spent, float64(e.Value))
	}
	return spent
}

// between returns how many intervals were at least from long, and shorter than to; both are multiples of [fineBin].
func between(f measure.Figures, from, to time.Duration) float64 {
	n := 0.0
	for _, e := range f.Interval.Histogram {
		if e.Key >= from.Seconds() && e.Key < to.Seconds() {
			n += float64(e.Value)
		}
	}
	return n
}

// mean returns the estimate of a figure over runs.
func mean[T any](runs []T, figure func(*T) float64) measure.Estimate {
	samples := make([]measure.Number, len(runs))
	for i := range runs {
		samples[i] = measure.Number(figure(&runs[i]))
	}
	return measure.EstimateOf(samples...)
}
