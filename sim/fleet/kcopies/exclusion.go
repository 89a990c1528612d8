package kcopies

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/lelann"
	"github.com/wanderd/wanderd/policy/kcopies/martin"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// LeLann makes a ring of Le Lann's.
func (w *World) LeLann(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(lelann.Family(), 0, func(seat sim.Seat) policy.Machine { return lelann.New(ring[seat.Index], 0) }, watchers)
}

// Martin makes a ring of Martin's.
func (w *World) Martin(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(martin.Family(), 0, func(seat sim.Seat) policy.Machine { return martin.New(ring[seat.Index], 0) }, watchers)
}

// Exclusion checks that one member runs at a time, and counts.
type Exclusion struct {
	running, wanted map[int]bool
	// Runs, Moves and Requests are how many runs there were, how many hops of the token, and how many messages of requests, copies not counted.
	Runs, Moves, Requests int
}

// NewExclusion returns a checker of one run.
func NewExclusion() *Exclusion { return &Exclusion{running: map[int]bool{}, wanted: map[int]bool{}} }

// Watch implements [sim.Watcher].
func (x *Exclusion) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(x.wanted, o.Member)
	}
	if o.EndsRun() {
		delete(x.running, o.Member)
	}
	if o.On(policy.Wanted) {
		x.wanted[o.Member] = true
	}
	for range o.Did(policy.Run) {
		x.Runs++
		x.running[o.Member] = true
		delete(x.wanted, o.Member)
	}
	for e := range o.Did(policy.Send) {
		x.count(&e.Msg, theToken(c.ID(0)))
	}
	if len(x.running) > 1 {
		return fmt.Errorf("exclusion: %d members run", len(x.running))
	}
	return nil
}

// count counts a message that is no copy.
func (x *Exclusion) count(m *wire.Message, token wire.TokenID) {
	st, _ := kcopies.Fields(&m.Load)
	switch {
	case int(st) != sim.IndexOf(m.To):
	case m.Token.ID == token:
		x.Moves++
	default:
		x.Requests++
	}
}

// Waiting is how many living members want to run and have not.
func (x *Exclusion) Waiting() int { return len(x.wanted) }
