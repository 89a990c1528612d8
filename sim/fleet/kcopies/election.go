package kcopies

import (
	"context"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/election"
	"github.com/wanderd/wanderd/sim"
)

// Election makes a ring that elects a leader. The candidates want to become the leader.
func (w *World) Election(candidates []int, watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	wants := make([]bool, w.Members)
	for _, i := range candidates {
		wants[i] = true
	}
	return w.cluster(election.Descriptor(), 0, func(env sim.Env) policy.Machine {
		return election.New(ring[env.Index], wants[env.Index])
	}, watchers)
}

// Elected is the leader that a ring has elected, and when.
type Elected struct {
	// Leader is the member on which the living agree; -1 if they do not. All is since when they agree. Best is the best
	// candidate among them.
	Leader, Best int
	All          policy.Time
	// Rounds are the moments at which a member learnt that it is the leader.
	Rounds []policy.Time
}

// Watch implements [sim.Watcher].
func (e *Elected) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped && o.Kind != sim.Crashed {
		return nil
	}
	for t := range o.Did(policy.Tell) {
		if t.Note == election.NoteLeader && t.Peer == c.ID(o.Member) {
			e.Rounds = append(e.Rounds, o.At)
		}
	}
	var leaders []int
	for i := range c.Members() {
		if c.Up(i) {
			leaders = append(leaders, c.Machine(i).(*election.Machine).Leader())
		}
	}
	agreed := -1
	if leaders = slices.Compact(leaders); len(leaders) == 1 {
		agreed = leaders[0]
	}
	if agreed != e.Leader {
		e.Leader, e.All = agreed, o.At
	}
	return nil
}

// Elect lets a ring elect a leader.
func (w *World) Elect(ctx context.Context, candidates []int, watchers ...sim.Watcher) (*Elected, error) {
	e := &Elected{Leader: -1, Best: -1}
	c := w.Election(candidates, append(watchers, e)...)
	err := w.Live(ctx, c)
	for i := range c.Members() {
		if c.Up(i) {
			e.Best = i
		}
	}
	return e, err
}
