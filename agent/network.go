package agent

import (
	"net/netip"
	"slices"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// newEnv returns the environment of the agent's gates.
func (a *Agent) newEnv() *gate.Env {
	observe := a.cfg.Observe
	if observe == nil {
		observe = func(gate.Observation) {}
	}
	return &gate.Env{
		Self: a.self, Name: a.cfg.Name, Socket: a.cfg.Socket, Started: a.started, Log: a.log,
		Clock: a.clock, Ended: a.ended,
		Disk: records{a}, Fleet: network{a},
		Start: a.deps.StartHook, HostStops: func() bool { return a.stopping.Load() && a.deps.Stops() },
		GoesDown: a.deps.Stops, ComesUp: a.deps.Starts,
		Alone: func() (waits, rejoins bool) { return a.waitsAlone(), a.rejoins() },
		Moved: a.moved, Runs: a.metrics.Runs, Commands: a.metrics.Commands, Observe: observe,
		Emit: a.events.Emit, Others: holding{a}.others, Held: holding{a}.held,
		Soaks: holding{a}.soaks,
	}
}

// The reason of a directive that a gate gives must not be longer than gossip carries.
const _ = uint(broadcast.MaxReason - gate.MaxReason)

// network gives gates access to the other members: by the view of the membership, and the socket. Only the loop uses
// it.
type network struct{ a *Agent }

func peerOf(in wire.GateID, m *membership.Member) gate.Peer {
	return gate.Peer{
		ID: m.ID, Name: m.Name, Addr: m.Addr, InGate: m.Has(in), Declared: m.Declared(in),
		Standing: stages.Standing(m.Standing(in)),
	}
}

func (n network) Lookup(in wire.GateID, id wire.MemberID) (gate.Peer, bool) {
	m, ok := n.a.view.Lookup(id)
	if !ok {
		return gate.Peer{}, false
	}
	return peerOf(in, m), true
}

func (n network) Members(in wire.GateID) []gate.Peer {
	list := make([]gate.Peer, 0, len(n.a.view.Members))
	for i := range n.a.view.Members {
		list = append(list, peerOf(in, &n.a.view.Members[i]))
	}
	return list
}

func (n network) Away(in wire.GateID) (list []gate.Peer) {
	for _, m := range n.a.members.All() {
		if has := m.Has(in); has && (m.State == membership.StateFailed || m.State == membership.StateLeft) {
			p := peerOf(in, &m)
			p.AwaySince, p.Left = m.Since, m.State == membership.StateLeft
			list = append(list, p)
		}
	}
	return list
}

func (n network) HasCompany() bool { return n.a.company.is() }

func (n network) IsForgotten(id wire.MemberID) bool { return n.a.members.IsForgotten(id) }

func (n network) Peers(in wire.GateID, declared uint64) (ids []wire.MemberID, tokenKnown bool, others []gate.Peer) {
	if p := patterns.Of(*n.a.patterns.Load(), in); p != nil {
		in = p.ID
	}
	ids, tokenKnown = n.a.view.Peers(in)
	if declared == 0 {
		return ids, tokenKnown, nil
	}
	for i := range n.a.view.Members {
		m := &n.a.view.Members[i]
		if d := m.Declared(in); d != 0 && d != declared && m.ID != n.a.self {
			others = append(others, peerOf(in, m))
		}
	}
	if len(others) == 0 {
		return ids, tokenKnown, nil
	}
	byID := func(p gate.Peer, id wire.MemberID) int { return p.ID.Compare(id) }
	isOther := func(id wire.MemberID) bool {
		_, is := slices.BinarySearchFunc(others, id, byID)
		return is
	}
	tokenKnown = slices.ContainsFunc(n.a.view.Members, func(m membership.Member) bool {
		return m.ID != n.a.self && m.HasMetToken(in) && !isOther(m.ID)
	})
	return slices.DeleteFunc(slices.Clone(ids), isOther), tokenKnown, others
}

func (n network) Send(m *wire.Message, to netip.AddrPort) error {
	n.a.sendBuf = n.a.credentials.codec.Load().Append(n.a.sendBuf[:0], m)
	return n.a.endpoint.Packets.WriteTo(n.a.sendBuf, n.a.intake.senders.localFor(m.To), to)
}

func (n network) Seal(m *wire.Message) []byte { return n.a.credentials.codec.Load().Append(nil, m) }

func (n network) Announce(in wire.GateID) { n.a.members.Announce(in) }

func (n network) Declare(in wire.GateID, what uint64) { n.a.members.Declare(in, what) }

func (n network) Stand(in wire.GateID, where stages.Standing) { n.a.members.Stand(in, uint8(where)) }

func (n network) Notify(in wire.GateID, o wire.Directive, who, reason string) error {
	if patterns.Of(*n.a.patterns.Load(), in) != nil {
		return nil // The messages of the gate carry it.
	}
	return n.a.members.Broadcast(membership.Broadcast{Gate: in, Directive: o, Who: who, Reason: reason})
}

func (n network) Withdraw() error {
	_, err := n.a.members.SetGates(announced(n.a))
	return err
}

// records gives gates access to the state directory; a test in virtual time replaces its save.
type records struct{ a *Agent }

func (r records) Save(gate string, record statedir.Record) error {
	return r.a.deps.Save(r.a.state, gate, record)
}

func (r records) SaveRoster(gate string, roster statedir.Roster) error {
	return r.a.state.SaveRoster(gate, roster)
}
