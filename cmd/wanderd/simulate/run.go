// Package simulate runs a scenario, with one seed or with many, and presents the figures.
//
//	run.go     all seeds
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

// Run runs a scenario for all its seeds. Several goroutines call progress with the completed share, from 0 to 1. If ctx is cancelled,
// Run returns the result so far with ctx's error. The number of cores does not change the result.
func Run(ctx context.Context, p scenario.Parameters, progress func(share float64)) (Result, error) {
	f := fleet{Parameters: p, progress: progress, runs: make([]run, p.Seeds)}
	_, err := seeds.Across(ctx, 0, nil, p.Seeds, func(ctx context.Context, i int) (struct{}, error) { return struct{}{}, f.run(ctx, i) })
	return f.result(), err
}

// fleet is a scenario and its runs.
type fleet struct {
	scenario.Parameters
	runs     []run
	lock     sync.Mutex
	reached  float64
	progress func(share float64)
}

// run is one run.
type run struct {
	figures         measure.Figures
	begun, complete bool
	// lap is the members' lap at the end, and tooShort the constant that is too short for it.
	lap      time.Duration
	tooShort string
}

// run runs seed number i. It returns an error if the run does not end.
func (f *fleet) run(ctx context.Context, i int) error {
	p := f.Parameters
	p.Seed += uint64(i)
	s := p.World()
	laps := &lapWatcher{}
	meter := measure.New(measure.Config{
		Members: p.Members, Slots: p.Slots, Quiet: p.MaxInterval, Good: p.Interval(), Bin: bin(p.Interval()),
	})
	before := 0.0
	reached, err := s.Measure(ctx, func(now policy.Time) {
		share := float64(now) / float64(p.Duration)
		f.add(share - before)
		before = share
	}, meter, laps)
	f.runs[i] = run{figures: meter.Figures(reached), begun: true, complete: err == nil}
	f.runs[i].lap, f.runs[i].tooShort = laps.median()
	return err
}

// add adds the progress of a run to the total.
func (f *fleet) add(share float64) {
	f.lock.Lock()
	f.reached += share
	all := f.reached / float64(len(f.runs))
	f.lock.Unlock()
	f.progress(all)
}

func (f *fleet) result() Result {
	r := Result{Scenario: f.Parameters}
	var begun []measure.Figures
	for _, one := range f.runs {
		switch {
		case one.complete:
			r.Runs = append(r.Runs, one.figures)
			if one.tooShort != "" && one.lap > r.Lap {
				r.Lap, r.TooShort = one.lap, one.tooShort
			}
		case one.begun:
			begun = append(begun, one.figures)
		}
	}
	if r.Complete = len(r.Runs); r.Complete == 0 {
		r.Runs = begun
	}
	return r
}
