package study

import (
	"context"
	"runtime"
	"sync"
)

// Options say how an experiment is run. The zero value is the experiment as it is in the docs, on all cores.
type Options struct {
	// Seeds is how many runs there are for each number of members; zero stands for the experiment's own number.
	Seeds int
	// Parallel is how many runs go on at the same time; zero stands for one on each core. It changes no result.
	Parallel int
	// Progress, if there is one, is told how many of the runs are over. It is never called twice at a time.
	Progress func(done, all int)
}

// Across runs all jobs and returns what those led to that finished, in the order of their numbers. A job depends on nothing
// but its number, so that neither the number of cores nor who finishes first changes a result. When ctx is cancelled or a
// job fails, the others stop, and the error comes with what is there so far.
func Across[T any](ctx context.Context, o Options, jobs int, do func(ctx context.Context, job int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		results  = make([]T, jobs)
		finished = make([]bool, jobs)
		lock     sync.Mutex
		next     int
		done     int
		workers  sync.WaitGroup
	)
	take := func() (job int, ok bool) {
		lock.Lock()
		defer lock.Unlock()
		next++
		return next - 1, next <= jobs && ctx.Err() == nil
	}
	finish := func(job int, result T) {
		lock.Lock()
		defer lock.Unlock()
		results[job], finished[job] = result, true
		done++
		if o.Progress != nil {
			o.Progress(done, jobs)
		}
	}
	for range min(o.workers(), jobs) {
		workers.Go(func() {
			for job, ok := take(); ok; job, ok = take() {
				result, err := do(ctx, job)
				if err != nil {
					cancel(err)
					return
				}
				finish(job, result)
			}
		})
	}
	workers.Wait()
	there := results[:0]
	for job := range jobs {
		if finished[job] {
			there = append(there, results[job])
		}
	}
	if len(there) == jobs {
		return there, nil
	}
	return there, context.Cause(ctx)
}

func (o Options) workers() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// SeedsOr returns how many seeds are to be run, if nobody has said otherwise.
func (o Options) SeedsOr(otherwise int) int {
	if o.Seeds > 0 {
		return o.Seeds
	}
	return otherwise
}

// Surveyed makes an experiment of cases that are all run with every seed from 1: seeds says how many a case has, and answer what
// their runs say, case by case in the order of the seeds.
func Surveyed[C, T any](
	e Experiment, cases []C, seeds func(c *C, o Options) int,
	run func(ctx context.Context, c *C, seed uint64) (T, error), answer func(runs [][]T) Result,
) Experiment {
	type outcome struct {
		of    int
		value T
	}
	e.Do = func(ctx context.Context, o Options) (Result, error) {
		var of, seed []int
		for i := range cases {
			for s := range seeds(&cases[i], o) {
				of, seed = append(of, i), append(seed, s+1)
			}
		}
		outcomes, err := Across(ctx, o, len(of), func(ctx context.Context, job int) (outcome, error) {
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
	}
	return e
}
