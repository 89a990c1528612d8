package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// sharing is what this member knows of the others' parts in a sweep with several tokens.
type sharing struct {
	// foreign says that this token belongs to other members than this one.
	foreign bool
	// mixed says that members have been seen that have another number of slots, mixedAt when the last was.
	mixed   bool
	mixedAt policy.Time
	// differs is the last member that was seen to have another number of slots, asker the last one that has asked for this token.
	differs, asker wire.MemberID
}

// shares reports whether the tokens of the gate share the members among themselves. In a sweep, each goes round a part of the
// order of its own: two that go round the same members at different times leave each other those who are not due yet, and
// meet the rest too late. Where members disagree on how many there are, they would not share: what one takes for another's part nobody
// may go to. So while this member sees that somebody has another number, the token goes round all.
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

// mix notes that a member has another number of slots. It is forgotten when the view changes, as it does when that member is restarted
// with the same number, and after max_interval: then it is noticed anew, or was played back.
func (m *Machine) mix(now policy.Time) {
	m.sharing.mixedAt = now
	if !m.sharing.mixed {
		m.sharing.mixed = true
		m.findPart(now)
	}
}

// unmix forgets it.
func (m *Machine) unmix(now policy.Time) {
	if m.sharing.mixed && now.Sub(m.sharing.mixedAt) > m.maxInterval() {
		m.sharing.mixed = false
		m.findPart(now)
	}
}

// settle takes up a new view.
func (m *Machine) settle(now policy.Instant) {
	m.sharing.mixed = false
	m.findPart(now.Time)
}

// findPart finds out whether this token comes to this member at all. If it does from now on, its silence begins now.
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

// differing reports whether that is so, and news.
func (m *Machine) differing(msg *wire.Message) bool {
	return m.otherSlots(msg) && msg.From != m.sharing.differs
}

// noteAsker remembers who asks whether there is still a token, if members may disagree on whose that is: then it comes to some
// of them only if they ask for it.
func (m *Machine) noteAsker(id wire.MemberID) {
	if m.shares() {
		m.sharing.asker = id
	}
}

// takeAsker returns who has asked for the token since it was here before, once.
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
