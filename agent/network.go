package agent

import (
	"net/netip"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// newEnv is what gates are given.
func (a *Agent) newEnv() *env {
	observe := a.cfg.Observe
	if observe == nil {
		observe = func(Observation) {}
	}
	return &env{
		self: a.self, name: a.cfg.Name, started: a.started, log: a.log, clock: a.clock, ended: a.ended, disk: records{a}, fleet: network{a},
		start: a.deps.startHook, hostStops: func() bool { return a.stopping.Load() && a.deps.stops() },
		alone: func() (waits, rejoins bool) { return a.waitsAlone(), a.rejoins() },
		moved: a.moved, runs: a.metrics.Runs, commands: a.metrics.Commands, observe: observe,
	}
}

// The reason of an order that a gate gives is as long as gossip carries it.
const _ = uint(membership.MaxReason - maxReason)

// network is the other members for gates: the view of the membership, and the socket. Only the loop uses it.
type network struct{ a *Agent }

func peerOf(gate wire.GateID, m *membership.Member) peer {
	return peer{ID: m.ID, Name: m.Name, Addr: m.Addr, InGate: m.Has(gate), Roster: m.Roster(gate)}
}

func (n network) Lookup(gate wire.GateID, id wire.MemberID) (peer, bool) {
	m, ok := n.a.view.Lookup(id)
	if !ok {
		return peer{}, false
	}
	return peerOf(gate, m), true
}

func (n network) Members(gate wire.GateID) []peer {
	list := make([]peer, 0, len(n.a.view.Members))
	for i := range n.a.view.Members {
		list = append(list, peerOf(gate, &n.a.view.Members[i]))
	}
	return list
}

func (n network) Peers(gate wire.GateID) ([]wire.MemberID, bool) { return n.a.view.Peers(gate) }

func (n network) Send(m *wire.Message, to netip.AddrPort) error {
	n.a.sendBuf = n.a.codec.Load().Append(n.a.sendBuf[:0], m)
	return n.a.endpoint.Packets.WriteTo(n.a.sendBuf, n.a.senders.localFor(m.To), to)
}

func (n network) Seal(m *wire.Message) []byte { return n.a.codec.Load().Append(nil, m) }

func (n network) Announce(gate wire.GateID) { n.a.members.Announce(gate) }

func (n network) DeclareRoster(gate wire.GateID, hash uint64) { n.a.members.DeclareRoster(gate, hash) }

func (n network) Notify(gate wire.GateID, o wire.Order, who, reason string) error {
	return n.a.members.Notify(membership.Broadcast{Gate: gate, Order: o, Who: who, Reason: reason})
}

func (n network) Withdraw() error {
	_, err := n.a.members.SetGates(idsOf(n.a.gates))
	return err
}

// records is the state directory for gates; a test in virtual time replaces its save.
type records struct{ a *Agent }

func (r records) Save(gate string, record statedir.Record) error {
	return r.a.deps.save(r.a.state, gate, record)
}

func (r records) SaveRoster(gate string, roster statedir.Roster) error {
	return r.a.state.SaveRoster(gate, roster)
}
