// Package seeds runs many seeds on many cores, with the same result on any number of them.
//
// It never knows what is run, and keeps nothing between two calls.
package seeds

import (
	"context"
	"runtime"
	"sync"
)

// Across runs all jobs and returns what those led to that finished, in the order of their numbers. A job depends on nothing
// but its number, so that neither the number of cores nor who finishes first changes a result. When ctx is cancelled or a
// job fails, the others stop, and the error comes with what is there so far.
//
// Parallel is how many jobs run at the same time; zero stands for one on each core. Progress, if there is one, is told how many of
// the jobs are over. It is never called twice at a time.
func Across[T any](
	ctx context.Context, parallel int, progress func(done, all int), jobs int, do func(ctx context.Context, job int) (T, error),
) ([]T, error) {
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
		if progress != nil {
			progress(done, jobs)
		}
	}
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	for range min(parallel, jobs) {
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
