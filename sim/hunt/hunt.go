// Package hunt looks for bugs: it draws one scenario after another, explores each with all checkers, and stops at the
// first one that breaks a rule.
//
// Seeds run in parallel, and the result does not depend on how many do: results count in the order of their seeds, and
// those after the first failure do not count. The package never judges a run itself: the checkers of packages check and
// fleet do.
package hunt

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/seeds"
)

// DefaultSeeds is the default number of seeds. They lead to everything that can occur.
const DefaultSeeds = 4000

// Options configure a hunt.
type Options struct {
	// Subject is one of [Subjects]; the zero value stands for the first.
	Subject Subject
	// Guided makes most worlds out of those that have reached something new. Its worlds are numbered from 1, and From
	// determines all of them.
	Guided bool
	// After is the report of a guided hunt of the same subject, which goes on. Nil begins another one.
	After *Report
	// From is the first seed; zero stands for 1.
	From uint64
	// Seeds is the number of seeds. Zero stands for DefaultSeeds or, if For is set, for no end.
	Seeds uint64
	// For bounds the hunt in real time; zero means no bound. Seeds that have begun are finished.
	For time.Duration
	// Workers is how many seeds run at the same time; zero stands for one on each core.
	Workers int
	// Progress, if not nil, is called after each seed with what has been found so far, one call at a time. It should
	// return soon.
	Progress func(*Report)
}

// Report is the result of a hunt.
type Report struct {
	// Seeds is how many seeds were explored. Steps is how many steps the machines took. Simulated is their virtual
	// time, in seconds.
	Seeds, Steps uint64
	Simulated    float64
	// Coverage is what has occurred. It is nil for a subject that has no list of what has to occur.
	Coverage *wandering.Coverage
	// Marks are the rare branches that the machines took, and Names are all that they can take. Marks is nil if they
	// mark none. Kept is how many worlds a guided hunt goes on from.
	Marks *marks.Set
	Names marks.Names
	Kept  int
	// guide is the hunt, if it was guided.
	guide guiding
	// Failure is the failure with the least seed. It is nil if no rule was broken.
	Failure *Failure
}

// Err returns why the hunt was no success: a rule was broken, or DefaultSeeds seeds did not lead to everything that can
// occur, so that finding nothing means little.
func (r *Report) Err() error {
	if r.Failure != nil {
		return r.Failure
	}
	if r.Coverage == nil {
		return nil
	}
	if missing := r.Coverage.Missing(); r.Seeds >= DefaultSeeds && len(missing) > 0 {
		return fmt.Errorf("%d seeds never led to: %s", r.Seeds, strings.Join(missing, ", "))
	}
	return nil
}

// found is the result of one seed.
type found struct {
	coverage wandering.Coverage
	marks    *marks.Set
	outcome  wandering.Outcome
}

// Run hunts until all seeds were explored, one has failed, the time is over, or ctx is cancelled.
func Run(ctx context.Context, o Options) *Report {
	o.From = max(o.From, 1)
	if o.Subject.Name == "" {
		o.Subject = Subjects()[0]
	}
	if o.Seeds == 0 && o.For == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.For > 0 {
		limited, cancel := context.WithTimeout(ctx, o.For)
		defer cancel()
		ctx = limited
	}
	if o.Guided && o.Subject.guided != nil {
		if o.After == nil {
			return o.Subject.guided(&o.Subject, o.From).hunt(ctx, &o)
		}
		return o.After.guide.hunt(ctx, &o)
	}
	r := &Report{}
	if o.Subject.marks != nil {
		r.Marks, r.Names = &marks.Set{}, o.Subject.marks
	}
	if o.Subject.covers {
		r.Coverage = &wandering.Coverage{}
	}
	// next is the seed whose result counts next. later are results of later seeds, which wait for that one.
	next, later := o.From, map[uint64]*found{}
	// Seeds begin in order, so that none before a failing one is left out. The end of the time is no error.
	_ = seeds.Each(ctx, o.Workers, int(o.Seeds), func(_ context.Context, job int) (*found, error) {
		seed, f := o.From+uint64(job), &found{}
		var watchers []sim.Watcher
		if o.Subject.covers {
			f.coverage.Drew(seed)
			watchers = append(watchers, &f.coverage)
		}
		if r.Marks != nil {
			f.marks = &marks.Set{}
			watchers = append(watchers, sim.Listen(f.marks))
		}
		f.outcome = o.Subject.Explore(seed, watchers...)
		return f, nil
	}, func(job int, f *found) (more bool) {
		later[o.From+uint64(job)] = f
		for r.Failure == nil && later[next] != nil {
			r.count(&o, next, later[next])
			delete(later, next)
			next++
		}
		return f.outcome.Err == nil
	})
	return r
}

func (r *Report) count(o *Options, seed uint64, f *found) {
	r.Seeds++
	r.Steps += f.outcome.Steps
	r.Simulated += time.Duration(f.outcome.At).Seconds()
	if r.Coverage != nil {
		r.Coverage.Add(&f.coverage)
	}
	if r.Marks != nil {
		r.Marks.Add(f.marks)
	}
	if f.outcome.Err != nil {
		r.Failure = newFailure(&o.Subject, seed, f.outcome.Err)
	}
	if o.Progress != nil {
		o.Progress(r)
	}
}
