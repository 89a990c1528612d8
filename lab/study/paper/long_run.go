package paper

import (
	"context"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim/measure"
)

// fineBin is the width of the bins in which a long run counts intervals. Whole multiples of Δmin are multiples of it.
const fineBin = 100 * time.Second

// startUp is the length of the beginning of a long run, which is counted separately: until twice Δmax, all members that
// the token has not reached yet suspect its loss at the same instant.
const startUp = 2 * study.MaxInterval

// long is the result of one long run of the machines: as a whole, in its beginning, and the intervals as table 4 seems
// to count them.
type long struct {
	figures, beginning measure.Figures
	undisturbed        *undisturbed
}

// runLong runs the paper's fleet "during a long run" (section 6), from its first second, as the paper does.
func runLong(ctx context.Context, members int, seed uint64, until time.Duration) (long, error) {
	meter := measure.New(measure.Config{Members: members, Quiet: study.MaxInterval, Bin: fineBin})
	run := long{undisturbed: &undisturbed{members: make([]occupant, members)}}
	c := newCluster(members, seed, meter, run.undisturbed)
	_, err := c.RunFor(ctx, policy.Time(min(startUp, until)), nil)
	run.beginning = meter.Figures(c.Now())
	if err == nil {
		_, err = c.RunFor(ctx, policy.Time(until), nil)
	}
	run.figures = meter.Figures(c.Now())
	return run, err
}

// longRuns returns an experiment with long runs of both fleets.
func longRuns(name string, answer func(runs [][]long) study.Result) study.Experiment {
	return study.Surveyed(name, fleets(), study.Usually[int](10),
		func(ctx context.Context, members *int, seed uint64) (long, error) {
			return runLong(ctx, *members, seed, longRun)
		}, answer)
}

// between returns the number of intervals that are at least from and shorter than to. Both must be multiples of
// [fineBin].
func between(f *measure.Figures, from, to time.Duration) float64 {
	n := 0.0
	for _, e := range f.Interval.Histogram {
		if e.Key >= from.Seconds() && e.Key < to.Seconds() {
			n += value(e.Value)
		}
	}
	return n
}

// within returns the share of intervals up to a limit, in percent.
func (l *long) within(d time.Duration) float64 {
	return 100 * between(&l.figures, 0, d) / between(&l.figures, 0, longRun)
}

// sharedBy returns the share of time with that many operations at once, or more.
func sharedBy(f *measure.Figures, least float64) float64 {
	spent := 0.0
	for _, e := range f.Concurrency {
		if e.Key >= least {
			spent += value(e.Value)
		}
	}
	return spent / value(f.Duration)
}
