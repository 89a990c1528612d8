package kcopies_test

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// exclusion checks that one member runs at a time, and counts.
type exclusion struct {
	running, wanted map[int]bool
	// runs counts the runs, moves the hops of the token, and requests the messages of requests, not counting copies.
	runs, moves, requests int
}

// newExclusion returns a checker of one run.
func newExclusion() *exclusion { return &exclusion{running: map[int]bool{}, wanted: map[int]bool{}} }

// Watch implements [sim.Watcher].
func (x *exclusion) Watch(c *sim.Cluster, o *sim.Occurrence) error {
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
		x.runs++
		x.running[o.Member] = true
		delete(x.wanted, o.Member)
	}
	for e := range o.Did(policy.Send) {
		x.count(&e.Msg, wire.TokenID{Generator: c.ID(0)})
	}
	if len(x.running) > 1 {
		return fmt.Errorf("exclusion: %d members run", len(x.running))
	}
	return nil
}

// count counts a message that is not a copy.
func (x *exclusion) count(m *wire.Message, token wire.TokenID) {
	st, _ := kcopies.Fields(&m.Load)
	switch {
	case int(st) != sim.IndexOf(m.To):
	case m.Token.ID == token:
		x.moves++
	default:
		x.requests++
	}
}

// waiting returns how many living members want to run and have not run.
func (x *exclusion) waiting() int { return len(x.wanted) }
