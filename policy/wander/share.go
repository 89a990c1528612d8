package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander/lap"
	"github.com/wanderd/wanderd/wire"
)

// sharing is what this member knows about how the tokens of a sweep share the members.
type sharing struct {
	// foreign is true if this token does not visit this member.
	foreign bool
	// mixed is true if members with different numbers of slots have been seen; mixedAt is when they were seen last.
	mixed   bool
	mixedAt policy.Time
	// differing is the last member that was seen with another number of slots. asker is the last member that has asked
	// for this token.
	differing, asker wire.MemberID
}

// shares reports whether the tokens of the gate share the members. In a sweep, each token visits a part of the order.
// If all tokens visited all members, each token would come to members that are not due, because another token has just
// served them, and would come too late to the rest. Members that disagree on the number of tokens compute different
// parts, and some members would be in none. So while this member sees another number, the token visits all members.
func (w *walker) shares(cfg *Config) bool {
	return cfg.Walk == Sweep && cfg.LastSlot > 0 && !w.sharing.mixed
}

// arc is this token's part.
func (c *Config) arc() lap.Arc { return lap.Arc{Part: int(c.Slot), Of: int(c.LastSlot) + 1} }

// lapLength is how many members a lap has.
func (w *walker) lapLength(cfg *Config) int {
	if !w.shares(cfg) {
		return w.Count()
	}
	from, to := cfg.arc().Bounds(w.Count())
	return max(to-from, 1)
}

// mix records that members with different numbers of slots were seen at that time, and reports whether this token
// visits this member from now on. The record is forgotten after max_interval, because the message may have been a
// replay; if it was none, the difference is noticed again. While a fleet is restarted with another number, views change
// all the time, so they tell nothing about this.
//
// Most of the restarted members see no other member with the old number for long. So a token carries how long ago a
// holder has seen such a difference.
func (w *walker) mix(cfg *Config, now, at policy.Time, maxInterval time.Duration) (begins bool) {
	s := &w.sharing
	s.mixedAt = max(s.mixedAt, at)
	if s.mixed || now.Sub(s.mixedAt) > maxInterval {
		return false
	}
	cfg.Marks.Hit(markMixed)
	s.mixed = true
	return w.findPart(cfg)
}

// unmix forgets the record after max_interval. Until then the token visits all members, so for none it begins to.
func (w *walker) unmix(cfg *Config, now policy.Time, maxInterval time.Duration) {
	if s := &w.sharing; s.mixed && now.Sub(s.mixedAt) > maxInterval {
		s.mixed = false
		w.findPart(cfg)
	}
}

// findPart finds out whether this token visits this member, and reports whether it does so only from now on.
func (w *walker) findPart(cfg *Config) (begins bool) {
	was := w.sharing.foreign
	w.sharing.foreign = w.shares(cfg) && !w.Alone() && !cfg.Laps.Contains(cfg.arc(), w.IDs, cfg.order(0), w.Rank)
	return was && !w.sharing.foreign
}

// comesHere reports whether this token visits this member.
func (w *walker) comesHere() bool { return !w.sharing.foreign }

// lowest returns the members of this token's part that make it first, if the tokens share the members.
func (w *walker) lowest(cfg *Config) (lowest guardian.Trail) {
	if w.shares(cfg) {
		return cfg.Laps.LowestIn(cfg.arc(), w.IDs, cfg.order(0), w.Rank)
	}
	return guardian.Trail{}
}

// tell adds the record to a token that leaves.
func (w *walker) tell(now policy.Time, l *wire.Load) {
	if w.sharing.mixed {
		SetMixed(l, now.Sub(w.sharing.mixedAt))
	}
}

// isMixed returns the record.
func (w *walker) isMixed() (at policy.Time, mixed bool) { return w.sharing.mixedAt, w.sharing.mixed }

// several reports whether the gate has several tokens, or may have.
func (c *Config) several() bool { return c.LastSlot > 0 || c.SlotsShare > 0 }

// otherSlots reports whether a message shows that its sender has another number of slots. Ack and Commit carry none.
// Where the number follows the members, a member has not counted them when it starts: then others tell it nothing, and
// the questions of such a member and the answers to them tell nothing.
func (c *Config) otherSlots(msg *wire.Message) bool {
	switch msg.Kind {
	case handoff.KindAck, handoff.KindCommit:
		return false
	case KindInquiry, KindSeen, KindUnseen:
		if c.SlotsShare > 0 {
			return false
		}
	}
	return !c.uncounted && LastSlotOf(&msg.Load) != c.LastSlot
}

// shows returns when members with different numbers of slots were seen, according to a message; ok is false if the
// message tells nothing about that.
func (w *walker) shows(cfg *Config, now policy.Time, msg *wire.Message) (at policy.Time, ok bool) {
	if cfg.otherSlots(msg) {
		return now, true
	}
	ago, mixed := MixedOf(&msg.Load)
	return now.Add(-ago), mixed && msg.Token.Slot == cfg.Slot
}

// differs reports whether it is news that a message has another number of slots: its sender is not the last such
// member.
func (w *walker) differs(cfg *Config, msg *wire.Message) bool {
	return cfg.otherSlots(msg) && msg.From != w.sharing.differing
}

// noteDiffers remembers a member that has another number of slots.
func (w *walker) noteDiffers(id wire.MemberID) { w.sharing.differing = id }

// noteAsker records a member that asks for the token, if members may disagree on their parts: then some members get it
// only if they ask.
func (w *walker) noteAsker(cfg *Config, id wire.MemberID) {
	if w.shares(cfg) {
		w.sharing.asker = id
	}
}

// takeAsker returns, once, the member that has asked for the token since it was last here.
func (w *walker) takeAsker(now policy.Time) (id wire.MemberID, ok bool) {
	id, w.sharing.asker = w.sharing.asker, wire.MemberID{}
	return id, w.Has(id) && !w.avoid.Has(id, now)
}

// noteSlots reads from an expected message whether members have another number of slots.
func (m *Machine) noteSlots(now policy.Time, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if at, ok := m.walk.shows(&m.cfg, now, msg); ok {
		maxInterval := m.measures.maxInterval(&m.cfg, m.walk.Count())
		m.loss.beginIf(m.walk.mix(&m.cfg, now, at, maxInterval), now)
	}
	if !m.walk.differs(&m.cfg, msg) {
		return out
	}
	m.cfg.Marks.Hit(markSlotsDiffer)
	m.walk.noteDiffers(msg.From)
	if m.cfg.SlotsShare > 0 {
		return out // One of the two will count again.
	}
	return policy.AppendTell(out, NoteSlotsDiffer, msg.From, &msg.Token)
}

// use takes another number of tokens in use. If this token is one too many, it is given up, unless it is on its way or
// a run goes on under it: then, when that has ended.
func (m *Machine) use(now policy.Instant, inUse int, out []policy.Effect) []policy.Effect {
	m.cfg.LastSlot, m.cfg.uncounted = uint8(max(inUse-1, int(m.cfg.Slot))), false
	m.custody.tellSlots(&m.cfg)
	m.schedule.SetSurplus(int(m.cfg.Slot) >= inUse)
	m.measures.count(m.walk.lapLength(&m.cfg))
	m.loss.beginIf(m.walk.findPart(&m.cfg), now.Time)
	switch {
	case m.schedule.IsSurplus():
		m.cfg.Marks.Hit(markSurplus)
		m.handoff.Close()
	case !m.custody.leaves():
		m.handoff.Reopen()
	}
	switch {
	case !m.schedule.IsSurplus():
	case m.custody.in(resting), m.custody.in(asking), m.custody.granting():
		m.cfg.Marks.Hit(markRetiresUnused)
		return m.retire(now, m.retract(out))
	}
	return m.preSign(out)
}

// retire gives up a token too many, and tells its guardians.
func (m *Machine) retire(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markRetires)
	held := *m.custody.last()
	out = policy.AppendTell(out, NoteRetired, wire.MemberID{}, &held.Ref)
	m.guardian.EndDoubt()
	out = m.giveUp(policy.CauseDropped, out)
	m.becomeAbsent(now)
	return m.guardian.Tombstone(&held, out)
}
