package main

import (
	"context"
	"time"

	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/hunt"
)

// soft is a subject of "wanderd sim hunt".
type soft struct {
	subject hunt.Subject
	// occurred is what has occurred in all turns, for subjects that have a list of what has to.
	occurred *wandering.Coverage
}

func softFamilies() (all []family) {
	for _, s := range hunt.All() {
		all = append(all, &soft{subject: s})
	}
	return all
}

func (s *soft) title() string { return s.subject.Title() }

func (s *soft) hunt(ctx context.Context, from uint64, lasts time.Duration) outcome {
	r := hunt.Run(ctx, hunt.Options{Subject: s.subject, From: from, For: lasts})
	o := outcome{seeds: r.Seeds, drawn: map[string]uint64{}}
	for seed := from; seed < from+r.Seeds; seed++ {
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
	if f := r.Failure; f != nil {
		o.broken = []broken{{seed: f.Seed, rule: f.Err.Error(), show: f.Replay, smaller: f.Smaller}}
	}
	return o
}
