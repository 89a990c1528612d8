package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// How long a starting fleet takes over its first token, in handoff timeouts: a member mints when its view has not changed
// for settleTimeouts, or has kept changing for unsettledTimeouts, and staggerTimeouts later for each member that ranks
// before it.
const (
	settleTimeouts    = 3
	unsettledTimeouts = 40
	staggerTimeouts   = 8
)

// firstToken is what a member knows about the first token of its fleet. The paper starts with a token in place; a fleet
// that is switched on all at once must make one, not one each, and not only after Δmax. The members mint in the order of
// their identities. Who has met a token says so by gossip, before the next in rank would mint, and when that one asks.
//
// Gossip has one bit for all tokens of a gate. It says nothing of the others' but the first: where a fleet gets more slots by restarts
// one by one, that one is there all the time. So in the other slots everybody asks first, in a sweep also members to whom the token comes.
type firstToken struct {
	// met says that this member has met a token, known that another one says so.
	met, known bool
	// company says that this member has seen another one since it started.
	company bool
	// asked says that at least one view has come.
	asked bool
	// armed says that this member mints at at, and has waited for that since since; rank and count are those of the view by
	// which at was set.
	armed       bool
	rank, count int32
	since, at   policy.Time
}

// onPeersChanged takes a new view of the gate.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	wasAlone := m.peers.alone()
	m.peers = newPeers(ev.Peers, m.cfg.Self)
	m.passed.lap = m.passed.rounds.lap(m.lapLength())
	m.settle(now)
	m.first.known = ev.TokenKnown
	if !m.peers.alone() {
		m.meetCompany(now)
	}
	if m.state == resting && wasAlone && !m.peers.alone() {
		m.restUntil = min(m.restUntil, now.Time.Add(m.cfg.Skip))
	}
	out = m.remuster(now, out)
	if m.peers.alone() {
		var back guardian.Outcome
		m.guardian.TakeBack(&back)
		out = m.onVerdict(now, &back, out)
	}
	return m.armFirst(now, out)
}

// armFirst decides whether, and when, this member is to make the first token.
func (m *Machine) armFirst(now policy.Instant, out []policy.Effect) []policy.Effect {
	f := &m.first
	firstView := !f.asked
	f.asked = true
	switch {
	case f.met || f.known && m.cfg.Slot == 0 || m.leaving:
		f.armed = false
	case m.waitsAlone():
		f.armed = false
		if firstView {
			return policy.AppendTell(out, NoteWaiting, wire.MemberID{}, nil)
		}
	case m.peers.alone() && !f.company:
		return m.mintFirst(now, out)
	case !f.armed:
		f.armed, f.since = true, now.Time
		m.awaitTurn(now)
	case f.rank != int32(m.peers.rank) || f.count != int32(m.peers.count()):
		m.awaitTurn(now)
	}
	return out
}

// awaitTurn begins the wait for the view to settle, and for all who rank before this member. Views come in pieces: a member
// that sees a part of the fleet may rank first in it by mistake.
func (m *Machine) awaitTurn(now policy.Instant) {
	f := &m.first
	f.rank, f.count = int32(m.peers.rank), int32(m.peers.count())
	settled := min(now.Time.Add(m.timeouts(settleTimeouts)), f.since.Add(m.timeouts(unsettledTimeouts)))
	f.at = settled.Add(m.timeouts(staggerTimeouts * int(f.rank)))
}

// mintsAt is when this member is to make the first token; meaningful if that is armed.
func (m *Machine) mintsAt() policy.Time { return m.unlessArriving(m.first.at) }

// waitsAlone reports whether this member belongs to a fleet of which it has seen nobody yet.
func (m *Machine) waitsAlone() bool {
	return (m.cfg.WaitAlone || m.cfg.Rejoins) && !m.first.company && !m.first.met
}

func (m *Machine) mintFirst(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.first.armed = false
	return m.serve(now, m.make(now, NoteMinted, out))
}

// onTurn: it is time for this member to make the first token. Who is not the first in rank asks the first ones whether they
// have: their word may be slower than its patience, or they saw less of the fleet and began sooner.
func (m *Machine) onTurn(now policy.Instant, out []policy.Effect) []policy.Effect {
	over, out := m.inquire(now, m.peers.rank > 0 || m.cfg.Slot > 0, out)
	if over {
		return m.mintFirst(now, out)
	}
	return out
}

// meetCompany notes that this member is not alone. A silence that it spent waiting for its fleet was none of the token's.
func (m *Machine) meetCompany(now policy.Instant) {
	if m.waitsAlone() {
		m.beginSilence(now.Time)
	}
	m.first.company = true
}

// meetToken lets the others know, once, that the gate has a token.
func (m *Machine) meetToken(out []policy.Effect) []policy.Effect {
	if m.first.met {
		return out
	}
	m.first.met, m.first.armed = true, false
	return append(out, policy.Effect{Kind: policy.Announce})
}
