package kcopies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/misra"
	"github.com/wanderd/wanderd/sim"
)

// Work is the application whose termination is detected: every member begins with work that may go on for Budget hops.
// A piece of work takes Takes on average.
type Work struct {
	Budget int
	Takes  time.Duration
}

// Misra makes a ring that detects the termination of that work.
func (w *World) Misra(work Work, watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(misra.Descriptor(), 0, func(env sim.Env) policy.Machine {
		return misra.New(ring[env.Index], misra.Config{Budget: work.Budget, Work: work.Takes, Entropy: env.Entropy})
	}, watchers)
}

// Termination is what a ring has detected. As a watcher it checks that this is true.
type Termination struct {
	// Passive is since when no living member is active and no work is on its way to one. Detected is when termination
	// was first detected, and By is the member that detected it.
	Passive, Detected policy.Time
	By                int
	// flying is how many messages of work are on their way to each member. Those on their way to a crashed member make
	// no member active.
	flying map[int]int
	quiet  bool
}

// NewTermination returns a checker of one run.
func NewTermination() *Termination { return &Termination{By: -1, flying: map[int]int{}} }

// errActive means that termination was detected too early.
var errActive = errors.New("termination: detected, but the application goes on")

// Watch implements [sim.Watcher].
func (k *Termination) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	detected := false
	switch {
	case o.Kind == sim.Lost:
		if o.Msg.Kind == misra.KindWork {
			k.flying[sim.IndexOf(o.Msg.To)]--
		}
	case o.Kind == sim.Stepped:
		if o.On(policy.Received) && o.Event.Msg.Kind == misra.KindWork {
			k.flying[o.Member]--
		}
		for e := range o.Did(policy.Send) {
			if e.Msg.Kind == misra.KindWork {
				k.flying[sim.IndexOf(e.Msg.To)]++
			}
		}
		for e := range o.Did(policy.Tell) {
			detected = detected || e.Note == misra.NoteTerminated
		}
	case o.Kind == sim.Crashed:
	default:
		return nil
	}
	quiet := true
	for i := range c.Members() {
		if site, ok := c.Machine(i).(*misra.Machine); ok && c.Up(i) && (site.Active() || k.flying[i] > 0) {
			quiet = false
		}
	}
	if quiet && !k.quiet {
		k.Passive = o.At
	}
	k.quiet = quiet
	if !detected {
		return nil
	}
	if !quiet {
		return fmt.Errorf("%w: %s says so", errActive, o.Who())
	}
	if k.By < 0 {
		k.By, k.Detected = o.Member, o.At
	}
	return nil
}

// Terminate lets the work of a ring end, and returns when that was detected.
func (w *World) Terminate(ctx context.Context, work Work, watchers ...sim.Watcher) (*Termination, error) {
	k := NewTermination()
	c := w.Misra(work, append(watchers, k, NewProof(w))...)
	return k, w.Live(ctx, c)
}
