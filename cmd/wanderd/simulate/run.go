// Package simulate runs a scenario, with one seed or with many, and presents the figures.
//
//	run.go     all seeds
//	bins.go    how wide the bins of intervals are
//	json.go    the figures for scripts: JSON, and CSV by the same names
//	tables.go  the figures for people
//	chart.go   how long members wait, as bars
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

// Result is what a scenario led to.
type Result struct {
	Scenario scenario.Parameters
	// Runs are those that are complete, in the order of their seeds; if none is, those that had begun when they were stopped.
	Runs []measure.Figures
	// Complete is how many runs came to their end, of the Scenario's Seeds.
	Complete int
	// TooShort names the constant that was too short for the laps of a run, and Lap is the longest such lap; empty if none was.
	TooShort string
	Lap      time.Duration
}

// Stopped reports whether there are runs that did not come to their end.
func (r *Result) Stopped() bool { return r.Complete < r.Scenario.Seeds }

// Run runs a scenario for all its seeds. Progress is told, by several goroutines at a time, how large a share is done. Where
// ctx is cancelled, the result is what is there so far, and comes with ctx's error. The number of cores changes no result.
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
	// lap is what a lap takes in the end, as the members see it, and tooShort the constant that is too short for that.
	lap      time.Duration
	tooShort string
}

// run runs the seed of number i, and has an error if it does not come to its end.
func (f *fleet) run(ctx context.Context, i int) error {
	p := f.Parameters
	p.Seed += uint64(i)
	s := p.World()
	laps := &lapWatcher{}
	meter := measure.New(measure.Config{
		Members: p.Members, Slots: p.Slots, Quiet: p.MaxInterval, Good: p.MinInterval, Bin: bin(p.MinInterval),
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

// add adds the share of a run to the whole.
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
