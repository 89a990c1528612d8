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
	// mixed says that members with another number of slots have been seen, mixedAt when the last one was.
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

// mix records that a member has another number of slots. The record is forgotten when the view changes, which it does when that member is restarted with
// the same number as this one. It is also forgotten after max_interval, because the message may have been a replay. If it was none, the difference is
// noticed again.
func (m *Machine) mix(now policy.Time) {
	m.sharing.mixedAt = now
	if !m.sharing.mixed {
		m.sharing.mixed = true
		m.findPart(now)
	}
}

// unmix forgets the record after max_interval.
func (m *Machine) unmix(now policy.Time) {
	if m.sharing.mixed && now.Sub(m.sharing.mixedAt) > m.maxInterval() {
		m.settle(now)
	}
}

// settle forgets the record, also because of a new view.
func (m *Machine) settle(now policy.Time) {
	m.sharing.mixed = false
	m.findPart(now)
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
	if m.otherSlots(msg) && m.Expects(msg) {
		m.mix(now)
	}
	if !m.differing(msg) || !m.Expects(msg) {
		return out
	}
	m.sharing.differs = msg.From
	return policy.AppendTell(out, NoteSlotsDiffer, msg.From, &msg.Token)
}
