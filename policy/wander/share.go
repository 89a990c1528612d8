package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// sharing is what this member knows about how the tokens of a sweep share the members.
type sharing struct {
	// foreign says that this token does not visit this member.
	foreign bool
	// mixed says that members with different numbers of slots have been seen, mixedAt when they were last.
	mixed   bool
	mixedAt policy.Time
	// differs is the last member that was seen with another number of slots, asker the last member that has asked for this token.
	differs, asker wire.MemberID
}

// shares reports whether the tokens of the gate share the members. In a sweep, each token visits a part of the order. If all tokens visited all members,
// each token would find members not due that another token has just served, and come too late to the rest. Members that disagree on the number of tokens
// compute different parts, and some members would be in none. So while this member sees another number, the token visits all members.
func (m *Machine) shares() bool { return m.cfg.Walk == Sweep && m.cfg.LastSlot > 0 && !m.sharing.mixed }

// arc is this token's part.
func (m *Machine) arc() arc { return arc{part: int(m.cfg.Slot), of: int(m.cfg.LastSlot) + 1} }

// lapLength is how many members a lap has.
func (m *Machine) lapLength() int {
	if !m.shares() {
		return m.peers.count()
	}
	from, to := m.arc().bounds(m.peers.count())
	return max(to-from, 1)
}

// mix records that members with different numbers of slots were seen at that time. The record is forgotten after max_interval, because the message may have
// been a replay; if it was none, the difference is noticed again. Views change all the time while a fleet is restarted with another number, so they say
// nothing.
//
// Of those that were restarted, most see no other member of the old number for long. So a token carries on for how long nobody has.
func (m *Machine) mix(now, at policy.Time) {
	m.sharing.mixedAt = max(m.sharing.mixedAt, at)
	if !m.sharing.mixed && now.Sub(m.sharing.mixedAt) <= m.maxInterval() {
		m.sharing.mixed = true
		m.findPart(now)
	}
}

// unmix forgets the record after max_interval.
func (m *Machine) unmix(now policy.Time) {
	if m.sharing.mixed && now.Sub(m.sharing.mixedAt) > m.maxInterval() {
		m.sharing.mixed = false
		m.findPart(now)
	}
}

// tellMixed lets a token that leaves carry the record.
func (m *Machine) tellMixed(now policy.Time, l *wire.Load) {
	if m.sharing.mixed {
		SetMixed(l, now.Sub(m.sharing.mixedAt))
	}
}

// findPart finds out whether this token visits this member. If it does from now on, its silence begins now.
func (m *Machine) findPart(now policy.Time) {
	foreign := m.shares() && !m.peers.alone() && !m.cfg.Laps.contains(m.arc(), m.peers.ids, m.order(0), m.peers.rank)
	if m.sharing.foreign && !foreign {
		m.beginSilence(now)
	}
	m.sharing.foreign = foreign
}

// otherSlots reports whether a message shows that its sender has another number of slots. Ack and Commit carry none.
func (m *Machine) otherSlots(msg *wire.Message) bool {
	bare := msg.Kind == handoff.KindAck || msg.Kind == handoff.KindCommit
	return !bare && LastSlotOf(&msg.Load) != m.cfg.LastSlot
}

// differing reports whether otherSlots is news: the sender is not the last such member.
func (m *Machine) differing(msg *wire.Message) bool {
	return m.otherSlots(msg) && msg.From != m.sharing.differs
}

// noteAsker records a member that asks for the token, if members may disagree on their parts: then some get it only if they ask.
func (m *Machine) noteAsker(id wire.MemberID) {
	if m.shares() {
		m.sharing.asker = id
	}
}

// takeAsker returns the member that has asked for the token since it was here last, once.
func (m *Machine) takeAsker(now policy.Time) (id wire.MemberID, ok bool) {
	id, m.sharing.asker = m.sharing.asker, wire.MemberID{}
	return id, m.peers.has(id) && !m.avoid.has(id, now)
}

// noteSlots notices members that have another number of slots.
func (m *Machine) noteSlots(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	ago, mixed := MixedOf(&msg.Load)
	switch {
	case !m.Expects(msg):
	case m.otherSlots(msg):
		m.mix(now, now)
	case mixed && msg.Token.Slot == m.cfg.Slot:
		m.mix(now, now.Add(-ago))
	}
	if !m.differing(msg) || !m.Expects(msg) {
		return out
	}
	m.sharing.differs = msg.From
	return policy.AppendTell(out, NoteSlotsDiffer, msg.From, &msg.Token)
}
