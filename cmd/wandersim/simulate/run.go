// Package simulate runs a scenario, with one seed or with many, and presents the figures.
//
//	run.go      all seeds, and a wandering token
//	numbers.go  policies that have only numbers
//	called.go   a token that is called
//	json.go     the figures for scripts: JSON, and CSV with the same names
//	tables.go   the figures for people
//	chart.go    the intervals, as a bar chart
package simulate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
	"github.com/wanderd/wanderd/sim/seeds"
)

// Outcome is the outcome of the runs of a scenario.
type Outcome interface {
	// Document returns the outcome as one JSON object: the figures of one run, or the means and confidence intervals of
	// many.
	Document() any
	// Tables writes the outcome for people. For many runs it has means, and half the widths of their confidence
	// intervals.
	Tables(format report.Format) string
	// Count returns how many runs there are, and how many of the scenario's seeds are complete.
	Count() (runs, complete int)
}

// Run runs a scenario for all its seeds. Several goroutines call progress with the completed share, from 0 to 1. If ctx
// is cancelled, Run returns the outcome so far with ctx's error. The number of cores does not change the outcome, which
// is a [Result] for a wandering token.
func Run(ctx context.Context, p scenario.Parameters, progress func(share float64)) (Outcome, error) {
	numbers := map[string]func(context.Context, scenario.Parameters, func(share float64)) (*[]Figure, error){
		usual.PolicyCall: called, usual.PolicyRing: ring, usual.PolicyTree: tree,
		scenario.PolicyTermination: termination, scenario.PolicyElection: election,
	}[p.Policy]
	if numbers == nil {
		return wanders(ctx, p, progress)
	}
	all, err := across(ctx, p, progress, numbers)
	return &figures{all}, err
}

// batch has the runs of a scenario.
type batch[T any] struct {
	Scenario scenario.Parameters
	// Runs are the complete runs, in the order of their seeds. If no run is complete, they are the runs that were
	// stopped.
	Runs []T
	// Complete is how many of the Scenario's Seeds are complete.
	Complete int
}

// Count implements [Outcome].
func (b *batch[T]) Count() (runs, complete int) { return len(b.Runs), b.Complete }

// Stopped reports whether some runs are not complete.
func (b *batch[T]) Stopped() bool { return b.Complete < b.Scenario.Seeds }

// Result is the outcome of a wandering token.
type Result struct {
	batch[measure.Figures]
	// TooShort names the constant that was too short for the laps of a run; empty if none was. Lap is the longest such
	// lap.
	TooShort string
	Lap      time.Duration
}

func wanders(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*Result, error) {
	all, err := across(ctx, p, progress, one)
	r := &Result{batch: batch[measure.Figures]{Scenario: p, Complete: all.Complete}}
	for _, run := range all.Runs {
		r.Runs = append(r.Runs, run.figures)
		if r.Complete > 0 && run.tooShort != "" && run.lap > r.Lap {
			r.Lap, r.TooShort = run.lap, run.tooShort
		}
	}
	return r, err
}

type run struct {
	figures measure.Figures
	// lap is the members' lap at the end, and tooShort the constant that is too short for it.
	lap      time.Duration
	tooShort string
}

func one(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*run, error) {
	s := p.World()
	var cluster *sim.Cluster // its members are asked at the end
	keep := sim.WatcherFunc(func(c *sim.Cluster, _ *sim.Occurrence) error {
		cluster = c
		return nil
	})
	meter := measure.New(measure.Config{
		Members: p.Members, Slots: p.Slots.Of(p.Members), Quiet: p.MaxInterval, Good: p.Interval(),
		Bin: bin(p.Interval()),
	})
	reached, err := s.Measure(ctx, func(now policy.Time) { progress(float64(now) / float64(p.Duration)) }, meter, keep)
	r := &run{figures: meter.Figures(reached)}
	r.lap, r.tooShort = medianLap(cluster)
	return r, err
}

// across runs a scenario for all its seeds. one runs a seed, and returns an error if it was stopped; it returns nil
// with the error if there is nothing to show. The runs are in the order of their seeds: the complete ones, or if there
// is none, those that were stopped.
func across[T any](ctx context.Context, p scenario.Parameters, progress func(share float64),
	one func(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*T, error),
) (batch[T], error) {
	begun := make([]*T, p.Seeds)
	var lock sync.Mutex
	all := 0.0
	runs, err := seeds.Across(ctx, 0, nil, p.Seeds, func(ctx context.Context, i int) (*T, error) {
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
		begun[i] = result
		return result, err
	})
	b := batch[T]{Scenario: p, Complete: len(runs)}
	if len(runs) == 0 {
		runs = slices.DeleteFunc(begun, func(r *T) bool { return r == nil })
	}
	for _, r := range runs {
		b.Runs = append(b.Runs, *r)
	}
	return b, err
}

// medianLap returns the median of the members' laps, and the constant that is too short for it. The cluster is nil if
// nothing has occurred.
func medianLap(c *sim.Cluster) (lap time.Duration, tooShort string) {
	if c == nil {
		return 0, ""
	}
	var all []wander.Detail
	for i := range c.Members() {
		if c.Up(i) {
			all = append(all, wandering.Detail(c, i))
		}
	}
	if len(all) == 0 {
		return 0, ""
	}
	slices.SortStableFunc(all, func(a, b wander.Detail) int { return cmp.Compare(a.Lap, b.Lap) })
	middle := &all[len(all)/2]
	return middle.Lap, middle.TooShort
}
