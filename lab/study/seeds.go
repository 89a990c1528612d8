package study

import (
	"context"

	"github.com/wanderd/wanderd/sim/seeds"
)

// Options are how an experiment is run. The zero value gives the experiment of the docs, on all cores.
type Options struct {
	// Seeds is the number of runs for each number of members; 0 means the experiment's own.
	Seeds int
	// Parallel is the number of runs at the same time; 0 means one on each core. It changes no result.
	Parallel int
	// Progress, if not nil, is called with the number of runs that are over. It is never called twice at a time.
	Progress func(done, all int)
}

// SeedsOr returns the number of seeds to run: otherwise, if the options set none.
func (o Options) SeedsOr(otherwise int) int {
	if o.Seeds > 0 {
		return o.Seeds
	}
	return otherwise
}

// Usually returns a function for [Surveyed]: the number of seeds of each case, if the options set none.
func Usually[C any](seeds int) func(*C, Options) int {
	return func(_ *C, o Options) int { return o.SeedsOr(seeds) }
}

// Surveyed makes an experiment of cases that are all run with every seed from 1. count returns how many seeds a case
// has. answer makes the result of the runs, which it gets case by case in the order of the seeds.
func Surveyed[C, T any](
	name string, cases []C, count func(c *C, o Options) int,
	run func(ctx context.Context, c *C, seed uint64) (T, error), answer func(runs [][]T) Result,
) Experiment {
	type outcome struct {
		of    int
		value T
	}
	return Experiment{Name: name, Do: func(ctx context.Context, o Options) (Result, error) {
		var of, seed []int
		for i := range cases {
			for s := range count(&cases[i], o) {
				of, seed = append(of, i), append(seed, s+1)
			}
		}
		outcomes, err := seeds.Across(ctx, o.Parallel, o.Progress, len(of),
			func(ctx context.Context, job int) (outcome, error) {
				value, err := run(ctx, &cases[of[job]], uint64(seed[job]))
				return outcome{of[job], value}, err
			})
		runs := make([][]T, len(cases))
		for _, one := range outcomes {
			runs[one.of] = append(runs[one.of], one.value)
		}
		r := answer(runs)
		r.Runs, r.Wanted = len(outcomes), len(of)
		return r, err
	}}
}
