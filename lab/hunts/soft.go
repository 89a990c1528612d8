package main

import (
	"cmp"
	"context"
	"time"

	"github.com/wanderd/wanderd/policy/marks"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/hunt"
)

// soft is a subject of "wanderd sim hunt".
type soft struct {
	subject hunt.Subject
	// occurred is what has occurred in all turns, for subjects that have a list of what has to.
	occurred *wandering.Coverage
	// guided is true if its worlds are made out of kept ones: it goes on after its last turn. reached are the
	// marks of all turns.
	guided  bool
	last    *hunt.Report
	reached *marks.Set
}

func softFamilies() (all []family) {
	for _, s := range hunt.All() {
		all = append(all, &soft{subject: s})
		if s.Guidable() { // So half of its time is guided.
			all = append(all, &soft{subject: s, guided: true})
		}
	}
	return all
}

func (s *soft) title() string {
	if s.guided {
		return s.subject.Title() + ", guided"
	}
	return s.subject.Title()
}

func (s *soft) hunt(ctx context.Context, from uint64, lasts time.Duration) outcome {
	r := hunt.Run(ctx, hunt.Options{Subject: s.subject, From: from, For: lasts, Guided: s.guided, After: s.last})
	o := outcome{seeds: r.Seeds, drawn: map[string]uint64{}}
	for seed := from; seed < from+r.Seeds && !s.guided; seed++ {
		for _, name := range s.subject.Drawn(seed) {
			o.drawn[name]++
		}
	}
	if r.Coverage != nil {
		if s.occurred == nil {
			s.occurred = &wandering.Coverage{}
		}
		s.occurred.Add(r.Coverage)
		o.never = s.occurred.Missing()
	}
	if s.guided {
		s.last = r
	}
	if r.Marks != nil {
		if s.reached == nil {
			s.reached = &marks.Set{}
		}
		s.reached.Add(r.Marks)
		o.marks = reachedText(s.reached, r.Names)
	}
	if f := r.Failure; f != nil {
		o.broken = []broken{{
			seed: cmp.Or(f.World, f.Seed), guided: s.guided, rule: f.Err.Error(), show: f.Replay,
			smaller: scenario(f.Smaller),
		}}
	}
	return o
}

// reachedText says which marks were reached, how often, rarest first.
func reachedText(reached *marks.Set, names marks.Names) (m marksReached) {
	m.pairs = reached.Pairs()
	m.never = names.Never(reached)
	m.often = map[string]uint64{}
	for mark, name := range names.Each {
		if n := reached.Count(mark); n > 0 {
			m.often[name] = n
		}
	}
	return m
}
