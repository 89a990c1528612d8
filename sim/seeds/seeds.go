// Package seeds runs many seeds on many cores, with the same result on any number of cores.
//
// It does not know what it runs, and keeps nothing between two calls.
package seeds

import (
	"context"
	"runtime"
	"sync"
)

// Across runs all jobs and returns the results of those that finished, in the order of their numbers. A job depends on
// its number only, so neither the number of cores nor the order in which jobs end changes a result. When ctx is
// cancelled or a job fails, the others stop, and the error is returned with the results so far.
//
// progress, if not nil, is called with the number of jobs that are over, one call at a time.
func Across[T any](
	ctx context.Context, parallel int, progress func(done, all int), jobs int,
	do func(ctx context.Context, job int) (T, error),
) ([]T, error) {
	if jobs == 0 {
		return nil, nil
	}
	results, finished, done := make([]T, jobs), make([]bool, jobs), 0
	err := Each(ctx, parallel, jobs, do, func(job int, result T) bool {
		results[job], finished[job] = result, true
		if done++; progress != nil {
			progress(done, jobs)
		}
		return true
	})
	if done == jobs {
		return results, nil
	}
	there := results[:0]
	for job := range jobs {
		if finished[job] {
			there = append(there, results[job])
		}
	}
	return there, err
}

// Each runs jobs in the order of their numbers until there are no more; if jobs is zero, there is no end. finished is
// called for each job that is over, one call at a time, and returns whether to begin another one. When ctx is cancelled
// or a job fails, no other job begins, and the error is returned when the jobs under way are over.
//
// parallel is how many jobs run at the same time. Zero stands for one on each core.
func Each[T any](
	ctx context.Context, parallel, jobs int, do func(ctx context.Context, job int) (T, error),
	finished func(job int, result T) bool,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		lock    sync.Mutex
		next    int
		enough  bool
		workers sync.WaitGroup
	)
	take := func() (job int, ok bool) {
		lock.Lock()
		defer lock.Unlock()
		if enough || ctx.Err() != nil || jobs > 0 && next >= jobs {
			return 0, false
		}
		next++
		return next - 1, true
	}
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	for range parallel {
		workers.Go(func() {
			for job, ok := take(); ok; job, ok = take() {
				result, err := do(ctx, job)
				if err != nil {
					cancel(err)
					return
				}
				lock.Lock()
				enough = !finished(job, result) || enough
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
