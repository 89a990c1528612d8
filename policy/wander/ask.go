package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// becomeAsking asks the other members whether one of them runs.
func (m *Machine) becomeAsking(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.ask(now.Time.Add(m.cfg.answersWithin(m.handoff.RoundTrip())))
	return m.consent.begin(&m.cfg, &m.walk.peers, m.custody.last(), out)
}

// wakeAsking repeats the question, and concludes when its time is over: a member that has not answered has no say. If
// this member was away while an objection may have come, it asks once more.
func (m *Machine) wakeAsking(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.consent.beginsAgain(now.Time, m.custody.until(), m.cfg.answersWithin(m.handoff.RoundTrip())):
		m.cfg.Marks.Hit(markAsksAgain)
		out = m.serve(now, out)
		m.consent.begunAgain()
		return out
	case now.Time >= m.custody.until():
		m.cfg.Marks.Hit(markUnanswered)
		return m.unopposed(now, out)
	}
	return m.consent.repeat(&m.cfg, now.Time, m.custody.until(), &m.walk.peers, m.custody.last(), out)
}

// mayObject reports whether an objection of a member counts.
func (m *Machine) mayObject(now policy.Time, id wire.MemberID) bool {
	return m.consent.mayObject(&m.cfg, now, id, m.measures.op(&m.cfg))
}

// onIntent answers with one message. If this member is asking too, and the other one goes first, this member does not
// run this time: others may already have consented to the other one.
func (m *Machine) onIntent(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	goesAfter := m.custody.in(asking) && !m.cfg.goesBefore(m.custody.last(), msg)
	givesWay := goesAfter && m.mayObject(now.Time, msg.From)
	kind := KindConsent
	if m.custody.in(running) || m.custody.granting() || m.custody.in(asking) && !givesWay {
		kind = KindObjection
	}
	out, answer := policy.AppendMessage(out)
	*answer = *msg
	answer.Kind, answer.From, answer.To = kind, m.cfg.Self, msg.From
	switch {
	case givesWay:
		m.cfg.Marks.Hit(markGivesWayToOlder)
		out = m.stepBack(now, msg.From, out)
	case goesAfter:
		m.cfg.Marks.Hit(markOverrulesOther)
		out = policy.AppendTell(out, NoteOverruled, msg.From, &m.custody.last().Ref)
	}
	return out
}

// onReply counts the consents; one objection is enough.
func (m *Machine) onReply(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if msg.Kind == KindObjection {
		if m.mayObject(now.Time, msg.From) {
			m.cfg.Marks.Hit(markObjected)
			return m.stepBack(now, msg.From, out)
		}
		m.cfg.Marks.Hit(markOverrules)
		out = policy.AppendTell(out, NoteOverruled, msg.From, &m.custody.last().Ref)
	}
	if m.consent.answered(msg.From, &m.walk.peers) {
		out = m.unopposed(now, out)
	}
	return out
}

// unopposed goes on to the run, if this member is still due.
func (m *Machine) unopposed(now policy.Instant, out []policy.Effect) []policy.Effect {
	if now.Time < m.dueAt(now.Time) {
		return m.serve(now, out)
	}
	return m.becomeGranting(now, out)
}

// stepBack lets the token rest for skip, because another member runs or is about to. Then the token is passed on.
func (m *Machine) stepBack(now policy.Instant, other wire.MemberID, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteOpposed, other, &m.custody.last().Ref)
	return m.restOnce(now.Time, out)
}
