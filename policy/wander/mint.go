package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// How long a starting fleet waits with its first token, in handoff timeouts. A member mints when its view has not changed for
// settleTimeouts, or has kept changing for unsettledTimeouts, and staggerTimeouts later for each member of a lower rank.
const (
	settleTimeouts    = 3
	unsettledTimeouts = 40
	staggerTimeouts   = 8
)

// firstToken is what a member knows about the first token of its fleet. The paper starts with a token in place. A fleet that is
// switched on at once must make one, not one for each member, and not only after Δmax. The members mint in the order of their
// identities. A member that has met a token says so by gossip before the next rank would mint, and in answer to a question.
//
// Gossip has one bit for all tokens of a gate. When a fleet gets more slots by restarts one by one, the first token is there all the time,
// so the bit says nothing about the others. In the other slots every member asks first; in a sweep also members to which that token comes.
type firstToken struct {
	// met says that this member has met a token, known that another member says that it has.
	met, known bool
	// company says that this member has seen another member since it started.
	company bool
	// asked says that at least one view has come.
	asked bool
	// armed says that this member will mint: at is when, since is when the wait began. rank and count are those of the view from which at was computed.
	armed       bool
	rank, count int32
	since, at   policy.Time
}

// onPeersChanged handles a new view of the gate.
func (m *Machine) onPeersChanged(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	wasAlone, shelved := m.walk.alone(), m.shelves(now.Time)
	before := m.walk.peers
	m.walk.peers = newPeers(ev.Peers, m.cfg.Self)
	m.changeAsked(now.Time, &before)
	m.recount(now.Time, &before)
	m.reunion.note(&m.cfg, now.Time, &m.walk.peers, &before)
	m.handoff.Keep(m.walk.hasHint)
	m.guardian.Measured(m.handoff.RoundTrip())
	m.measures.count(m.walk.lapLength(&m.cfg))
	m.unmix(now.Time)
	if m.walk.findPart(&m.cfg) {
		m.beginSilence(now.Time)
	}
	m.first.known = ev.TokenKnown
	if !m.walk.alone() {
		m.meetCompany(now)
	}
	if released := wasAlone || shelved && !m.shelves(now.Time); m.state == resting && released && !m.walk.alone() {
		m.restUntil = min(m.restUntil, now.Time.Add(m.cfg.Skip))
	}
	out = m.remuster(now, out)
	out = m.reunion.greet(&m.cfg, now.Time, &m.walk.peers, m.held(), &m.guardian, out)
	if m.walk.alone() {
		var back guardian.Outcome
		m.guardian.TakeBack(&back)
		out = m.onVerdict(now, &back, out)
	}
	return m.armFirst(now, out)
}

// armFirst decides whether and when this member makes the first token.
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
	case m.walk.alone() && !f.company:
		return m.mintFirst(now, out)
	case !f.armed:
		f.armed, f.since = true, now.Time
		m.awaitTurn(now)
	case f.rank != int32(m.walk.rank) || f.count != int32(m.walk.count()):
		m.awaitTurn(now)
	}
	return out
}

// awaitTurn begins the wait until the view has settled and all lower ranks have had their turns. A member sees the fleet in parts at
// first, and may have rank 0 in such a part by mistake.
func (m *Machine) awaitTurn(now policy.Instant) {
	f := &m.first
	f.rank, f.count = int32(m.walk.rank), int32(m.walk.count())
	settled := min(now.Time.Add(m.cfg.timeouts(settleTimeouts)), f.since.Add(m.cfg.timeouts(unsettledTimeouts)))
	f.at = settled.Add(m.cfg.timeouts(staggerTimeouts * int(f.rank)))
}

// mintsAt is when this member makes the first token; meaningful if first is armed.
func (m *Machine) mintsAt() policy.Time { return m.unlessArriving(m.first.at) }

// waitsAlone reports whether this member waits because it belongs to a fleet and has not seen any other member of it. One that was in a fleet in an earlier
// life waits no longer than for a lost token, because the others may be gone for good.
func (m *Machine) waitsAlone() bool {
	return (m.cfg.WaitsAlone || m.cfg.Rejoins) && !m.first.company && !m.first.met
}

func (m *Machine) mintFirst(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.first.armed = false
	return m.serve(now, m.make(now, NoteMinted, originFirst, out))
}

// onTurn makes the first token. Every member but rank 0 asks the lower ranks whether a token exists before it mints one: the gossip of the lower ranks may
// be slower than this member's patience, or they saw less of the fleet and began earlier.
func (m *Machine) onTurn(now policy.Instant, out []policy.Effect) []policy.Effect {
	over, out := m.inquire(now, m.walk.rank > 0 || m.cfg.Slot > 0, false, out)
	if over {
		return m.mintFirst(now, out)
	}
	return out
}

// meetCompany records that this member is not alone. The time in which it waited for its fleet does not count as a silence.
func (m *Machine) meetCompany(now policy.Instant) {
	if m.waitsAlone() {
		m.beginSilence(now.Time)
	}
	m.first.company = true
}

// meetToken announces once that the gate has a token.
func (m *Machine) meetToken(out []policy.Effect) []policy.Effect {
	if m.first.met {
		return out
	}
	m.first.met, m.first.armed = true, false
	return append(out, policy.Effect{Kind: policy.Announce})
}
