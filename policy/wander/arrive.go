package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// onArrived handles a token whose handoff ended here.
func (m *Machine) onArrived(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	from, token := end.Peer, &guardian.Token{Ref: end.Token, Load: end.Load}
	growBy(&token.Load, end.Took)
	m.loss.meetCompany(&m.cfg, now.Time)
	m.walk.forgive(from)
	o := m.outlook()
	m.loss.lowerRegenerateAfter(&o)
	if latest, outdated := m.custody.isOutdated(token, &m.guardian); outdated {
		m.cfg.Marks.Hit(markArrivedOutdated)
		return m.discardOutdated(now, from, token, latest, out)
	}
	token.Seq = m.numbers.Arrived(token.Seq)
	out = policy.AppendTell(out, NoteArrived, from, &token.Ref)
	out = m.loss.meet(out)
	switch {
	case m.custody.holdsOlder(token.ID):
		return m.onMeeting(now, policy.CauseReceived, from, token, out)
	case m.removes(now.Time, token) || m.passed.crosses(&o, now.Time, from, token.ID):
		m.loss.begin(now.Time)
		return m.remove(now, policy.CauseReceived, from, token, out)
	case m.custody.holds():
		return m.onMeeting(now, policy.CauseReceived, from, token, out)
	}
	out = m.take(now, policy.CauseReceived, from, token, out)
	if m.custody.in(running) {
		return out
	}
	return m.serve(now, out)
}

// removes is the token removal rule: "the component discards a token t when it has been enabled from less than Δmin
// time units by another token preceding t" (Ciuffoletti, section 5). Which runs count after a restart: see origin.go.
func (m *Machine) removes(now policy.Time, t *guardian.Token) bool {
	if m.schedule.RanUnderOlder(m.cfg.terms(), now, t.ID) && !isBygone(&m.schedule, now, t) {
		return true
	}
	o := m.outlook()
	return m.passed.chases(&o, now, t)
}

// remove discards a token by a removal rule, and a held copy of it too.
func (m *Machine) remove(
	now policy.Instant, how policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	m.cfg.Marks.Hit(markRemoved)
	out = policy.AppendTell(out, NoteRemoved, from, &token.Ref)
	out = discard(how, policy.CauseRemoved, from, token, out)
	out = m.guardian.Tombstone(token, out)
	if m.custody.holdsCopy(token.ID) {
		m.cfg.Marks.Hit(markRemovesHeld)
		return m.onOvertaken(now, from, token, out)
	}
	return out
}

// onMeeting handles a token that arrives, or is revived, while this member holds another. The older one survives; the
// younger is discarded at once. Of two copies of one token, the one with the higher number survives. A run continues,
// now under the surviving token.
func (m *Machine) onMeeting(
	now policy.Instant, how policy.Cause, from wire.MemberID, arrived *guardian.Token, out []policy.Effect,
) []policy.Effect {
	met := *m.custody.last()
	switch {
	case arrived.ID == met.ID:
		m.cfg.Marks.Hit(markMetCopy)
		out = policy.AppendTell(out, NoteOutdated, wire.MemberID{}, &met.Ref)
		out = m.giveUp(policy.CauseOvertaken, out)
		out = m.guardian.Correct(&met, arrived, out)
	case !arrived.ID.Precedes(met.ID):
		m.cfg.Marks.Hit(markMetOlder)
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &arrived.Ref)
		out = discard(how, policy.CauseMet, from, arrived, out)
		return m.guardian.Tombstone(arrived, out)
	default:
		m.cfg.Marks.Hit(markMetYounger)
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &met.Ref)
		out = m.giveUp(policy.CauseMet, out)
		out = m.guardian.Tombstone(&met, out)
	}
	out = m.take(now, how, from, arrived, out)
	if m.custody.in(running) {
		m.cfg.Marks.Hit(markGoesOnUnder)
		m.schedule.GoOnUnder(arrived.ID)
		return m.save(out)
	}
	m.handoff.Withdraw()
	return m.serve(now, m.retract(out))
}

// serve uses the held token: it runs the operation if this member is due, and lets the token rest otherwise.
func (m *Machine) serve(now policy.Instant, out []policy.Effect) []policy.Effect {
	due := m.dueAt(now.Time)
	switch {
	case m.custody.leaves(), m.schedule.IsSurplus(), m.shelves(now.Time):
		m.cfg.Marks.Hit(markMayNotUse)
		return m.pass(now, out)
	case now.Time >= due && m.cfg.asksFirst(&m.walk.peers):
		return m.becomeAsking(now, out)
	case now.Time >= due:
		return m.becomeGranting(now, out)
	case m.walk.Alone():
		out = policy.AppendTell(out, NoteAlone, wire.MemberID{}, &m.custody.last().Ref)
		return m.becomeResting(now.Time, due, out)
	case m.dueSoon(now.Time, due):
		return m.becomeResting(now.Time, due, out)
	}
	return m.becomeResting(now.Time, now.Time.Add(m.cfg.Skip), out)
}

// onRested ends a rest: the token has rested for skip and is passed on, or this member has kept it until it is due. On
// walks other than the sweep, a member keeps it that long only if its offers fail.
func (m *Machine) onRested(now policy.Instant, out []policy.Effect) []policy.Effect {
	waits := m.cfg.Walk == Sweep || m.handoff.Failures() > 0
	if m.walk.Alone() || waits && m.custody.restsUntilDue() && now.Time >= m.dueAt(now.Time) {
		return m.serve(now, out)
	}
	return m.pass(now, out)
}
