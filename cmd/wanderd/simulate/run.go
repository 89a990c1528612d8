// Package simulate runs a scenario, with one seed or with many, and presents the figures.
//
//	run.go     all seeds, and a wandering token
//	figure.go  policies that have nothing but numbers; ring.go, tree.go and deciding.go have theirs
//	bins.go    the width of the bins of intervals
//	json.go    the figures for scripts: JSON, and CSV with the same names
//	tables.go  the figures for people
//	chart.go   the intervals, as a bar chart
package simulate

import (
	"context"
	"sync"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/seeds"
)

// Result is the result of a scenario.
type Result struct {
	Scenario scenario.Parameters
	// Runs are the complete runs, in the order of their seeds. If there is none, they are the ones that were stopped.
	Runs []measure.Figures
	// Complete is how many of the Scenario's Seeds are complete.
	Complete int
	// TooShort names the constant that was too short for the laps of a run; empty if none was. Lap is the longest such lap.
	TooShort string
	Lap      time.Duration
}

// Stopped reports whether some runs are not complete.
func (r *Result) Stopped() bool { return r.Complete < r.Scenario.Seeds }

// Run runs a scenario of a wandering token for all its seeds. Several goroutines call progress with the completed share, from 0 to 1. If ctx is
// cancelled, Run returns the result so far with ctx's error. The number of cores does not change the result.
func Run(ctx context.Context, p scenario.Parameters, progress func(share float64)) (Result, error) {
	runs, complete, err := across(ctx, p, progress, one)
	r := Result{Scenario: p, Complete: complete}
	for _, run := range runs {
		r.Runs = append(r.Runs, run.figures)
		if complete > 0 && run.tooShort != "" && run.lap > r.Lap {
			r.Lap, r.TooShort = run.lap, run.tooShort
		}
	}
	return r, err
}

// run is one run.
type run struct {
	figures measure.Figures
	// lap is the members' lap at the end, and tooShort the constant that is too short for it.
	lap      time.Duration
	tooShort string
}

func one(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*run, error) {
	s := p.World()
	laps := &lapWatcher{}
	meter := measure.New(measure.Config{
		Members: p.Members, Slots: p.Slots, Quiet: p.MaxInterval, Good: p.Interval(), Bin: bin(p.Interval()),
	})
	reached, err := s.Measure(ctx, func(now policy.Time) { progress(float64(now) / float64(p.Duration)) }, meter, laps)
	r := &run{figures: meter.Figures(reached)}
	r.lap, r.tooShort = laps.median()
	return r, err
}

// across runs a scenario for all its seeds. one runs a seed, and returns an error if it was stopped; nil with it, if there is nothing to show. The runs
// are in the order of their seeds: those that are complete, or if there is none, those that were stopped.
func across[T any](ctx context.Context, p scenario.Parameters, progress func(share float64),
	one func(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*T, error),
) (runs []T, complete int, err error) {
	begun, ended := make([]*T, p.Seeds), make([]bool, p.Seeds)
	var lock sync.Mutex
	all := 0.0
	_, err = seeds.Across(ctx, 0, nil, p.Seeds, func(ctx context.Context, i int) (struct{}, error) {
		p, before := p, 0.0
		p.Seed += uint64(i)
		result, err := one(ctx, p, func(share float64) {
			lock.Lock()
			all += share - before
			reached := all / float64(p.Seeds)
			lock.Unlock()
			before = share
			progress(reached)
		})
		begun[i], ended[i] = result, err == nil
		return struct{}{}, err
	})
	for i, r := range begun {
		if ended[i] {
			complete++
			runs = append(runs, *r)
		}
	}
	if complete == 0 {
		for _, r := range begun {
			if r != nil {
				runs = append(runs, *r)
			}
		}
	}
	return runs, complete, err
}
