package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// onArrived takes a token whose handoff ended here.
func (m *Machine) onArrived(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	from, token := end.Peer, &guardian.Token{Ref: end.Token, Load: end.Load}
	growBy(&token.Load, end.Took)
	m.meetCompany(now)
	m.avoid.forgive(from)
	m.lowerRegenerateAfter()
	if m.outdated(token) {
		return m.discardOutdated(now, from, token, out)
	}
	m.numbers.seen = max(m.numbers.seen, token.Seq).After()
	token.Seq = m.numbers.seen
	out = policy.AppendTell(out, NoteArrived, from, &token.Ref)
	out = m.meetToken(out)
	switch {
	case m.holdsOlder(token.ID):
		return m.onMeeting(now, policy.CauseReceived, from, token, out)
	case m.removes(now.Time, token) || m.crosses(now.Time, from, token.ID):
		m.beginSilence(now.Time)
		return m.remove(now, policy.CauseReceived, from, token, out)
	case m.holds:
		return m.onMeeting(now, policy.CauseReceived, from, token, out)
	}
	out = m.take(now, policy.CauseReceived, from, token, out)
	if m.state == running {
		return out
	}
	return m.serve(now, out)
}

// removes is the token removal rule: "the component discards a token t when it has been enabled from less than Δmin time
// units by another token preceding t" (Ciuffoletti, section 5).
func (m *Machine) removes(now policy.Time, t *guardian.Token) bool {
	lately := m.ran.ever && now < m.ran.at.Add(m.cfg.MinInterval)
	// A run whose token is not known any longer, because its slot is no more, says nothing of others.
	known := !m.ran.under.Generator.IsZero()
	return lately && known && m.ran.under.Precedes(t.ID) || m.chases(now, t)
}

// chases is the removal rule of what was passed on here: a token is discarded if one that precedes it has been here since the younger was
// made, because then there were two, or less than a lap ago, because then there most probably are. Two tokens can follow each other for
// ever at half a lap's distance, and where a lap takes longer than Δmin the paper's rule removes neither.
//
// The first holds for all walks, however long a lap is and whatever was configured, and no token that follows upon the loss of another
// falls victim to it: that one was last here before. So the younger of two tokens that go round goes no further than to the member where
// the older one was when it was made. On a random walk without guardians, the plain paper, the paper's rule stands alone.
func (m *Machine) chases(now policy.Time, t *guardian.Token) bool {
	if !m.passed.any || !m.passed.token.Precedes(t.ID) || m.plain() {
		return false
	}
	since := now.Sub(m.passed.at)
	return since < AgeOf(&t.Load) || m.cfg.Walk != Random && since < m.lapAtMost()
}

// lapAtMost is what a lap takes: what it took, or a third of Δmax, by the default rule a lap of members that are all due. It is never more
// than Δmax, after which a token may have been found to be lost.
func (m *Machine) lapAtMost() time.Duration {
	most := m.maxInterval()
	return min(max(m.passed.lap, most/3), most)
}

// crosses reports whether a token comes from the member to which an older one has just gone: they have met on the way. Two tokens
// would otherwise change places for ever where two members run for equally long, and for as long as Δmin.
func (m *Machine) crosses(now policy.Time, from wire.MemberID, id wire.TokenID) bool {
	return m.passed.any && m.passed.to == from && now.Sub(m.passed.at) < m.handoff.Patience() && m.passed.token.Precedes(id)
}

// holdsOlder reports whether a token that precedes another is held. Of any two tokens that meet the younger is discarded; but an older
// one that arrives may have to be removed itself, and must not take the place of the held one.
func (m *Machine) holdsOlder(id wire.TokenID) bool { return m.holds && m.token.ID.Precedes(id) }

// remove discards a token by a removal rule. A copy of it that is held goes with it.
func (m *Machine) remove(
	now policy.Instant, how policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	out = policy.AppendTell(out, NoteRemoved, from, &token.Ref)
	out = discard(how, policy.CauseRemoved, from, token, out)
	out = m.guardian.Bury(token, out)
	if m.holds && m.token.ID == token.ID {
		return m.onOvertaken(now, from, token, out)
	}
	return out
}

// onMeeting: a token arrives, or is revived, where another is held. The older survives, the younger is discarded at once; of
// two copies of one token, the one that has come further. A run goes on: from now on it is under the one that survives.
func (m *Machine) onMeeting(
	now policy.Instant, how policy.Cause, from wire.MemberID, arrived *guardian.Token, out []policy.Effect,
) []policy.Effect {
	met := m.token
	switch {
	case arrived.ID == met.ID:
		out = policy.AppendTell(out, NoteOutdated, wire.MemberID{}, &met.Ref)
		out = m.giveUp(policy.CauseOvertaken, out)
		out = m.guardian.Correct(&met, arrived, out)
	case !arrived.ID.Precedes(met.ID):
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &arrived.Ref)
		out = discard(how, policy.CauseMet, from, arrived, out)
		return m.guardian.Bury(arrived, out)
	default:
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &met.Ref)
		out = m.giveUp(policy.CauseMet, out)
		out = m.guardian.Bury(&met, out)
	}
	out = m.take(now, how, from, arrived, out)
	if m.state == running {
		if !m.demanded {
			m.ran.under = arrived.ID
		}
		return m.save(out)
	}
	m.handoff.Withdraw()
	return m.serve(now, m.retract(out))
}

// serve does with the token at hand what is to be done here: run the operation if this member is due, else rest.
func (m *Machine) serve(now policy.Instant, out []policy.Effect) []policy.Effect {
	due := m.dueAt(now.Time)
	switch {
	case m.leaving:
		return m.pass(now, out)
	case now.Time >= due:
		return m.becomeGranting(now, out)
	case m.peers.alone():
		out = policy.AppendTell(out, NoteAlone, wire.MemberID{}, &m.token.Ref)
		return m.becomeResting(now.Time, due, out)
	}
	return m.becomeResting(now.Time, now.Time.Add(m.restFor(now.Time, due)), out)
}

// onRested: the token has rested for skip and goes on, or this member has waited with it until it is due. On the walks that do not wait
// for that, it has only where its offers fail.
func (m *Machine) onRested(now policy.Instant, out []policy.Effect) []policy.Effect {
	waits := m.cfg.Walk == Sweep || m.handoff.Failing()
	if m.peers.alone() || waits && m.waitsUntilDue && now.Time >= m.dueAt(now.Time) {
		return m.serve(now, out)
	}
	return m.pass(now, out)
}
