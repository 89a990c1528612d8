package kcopies

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/proof"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// sited is a machine with a part of a token.
type sited interface{ KCopies() *kcopies.Machine }

// Proof checks the properties of the appendix after every step.
type Proof struct {
	id      wire.TokenID
	proof   proof.Proof
	sites   []*kcopies.Machine
	pending []proof.Pending
}

// NewProof returns a checker of one run.
func NewProof(w *World) *Proof {
	ring := w.ring()
	return &Proof{id: ring[0].ID, proof: proof.New(&ring[0], 0), sites: make([]*kcopies.Machine, w.Members)}
}

// Watch implements [sim.Watcher].
func (p *Proof) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Kind == sim.Lost || o.Kind == sim.Ignored:
		p.arrived(o.Msg)
	case o.Kind == sim.Stepped:
		if o.On(policy.Received) {
			p.arrived(&o.Event.Msg)
		}
		for e := range o.Did(policy.Send) {
			if p.follows(&e.Msg) {
				p.pending = append(p.pending, proof.PendingOf(&e.Msg, kcopies.Site(sim.IndexOf(e.Msg.To))))
			}
		}
	default:
		return nil
	}
	for i := range p.sites {
		p.sites[i] = nil
		// A member that crashes in this step may not have sent everything that its state shows as sent.
		if c.Up(i) && (o.Member != i || o.Kind != sim.Stepped || o.Completes()) {
			p.sites[i] = c.Machine(i).(sited).KCopies()
		}
	}
	if err := p.proof.Check(p.sites, p.pending); err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	return nil
}

func (p *Proof) follows(m *wire.Message) bool {
	return m.Kind == kcopies.KindToken && m.Token.ID == p.id
}

// arrived removes a message from the pending ones.
func (p *Proof) arrived(m *wire.Message) {
	if !p.follows(m) {
		return
	}
	one := proof.PendingOf(m, kcopies.Site(sim.IndexOf(m.To)))
	if i := slices.Index(p.pending, one); i >= 0 {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
}
