package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// take makes this member the holder of a token, and chooses its guardians.
func (m *Machine) take(
	now policy.Instant, how policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	out = policy.AppendTook(out, how, from, &token.Ref)
	m.custody.take(&m.cfg, now.Time, token)
	if m.guardian.Took(now.Time, m.custody.held()) {
		m.cfg.Marks.Hit(markUnused)
		out = policy.AppendTell(out, guardian.NoteUnused, from, &token.Ref)
	}
	m.walk.come(now.Time)
	m.loss.found()
	m.measures.learn(OpOf(&token.Load))
	out = m.preSign(m.assignGuardians(now, out))
	return m.reunion.greet(&m.cfg, now.Time, &m.walk.peers, &peers{}, m.custody.held(), &m.guardian, out)
}

// assignGuardians chooses the guardians of the held token, and tells them.
func (m *Machine) assignGuardians(now policy.Instant, out []policy.Effect) []policy.Effect {
	before := m.custody.last().Trail()
	m.walk.chooseGuardians(&m.cfg, now.Time, m.custody.last())
	return m.release(before, m.guardian.Hold(now.Time, m.custody.last(), out))
}

// release tells those that were guardians, and are none any more, in a gate whose grants outlive their hosts: they
// would revive the token while its host is away.
func (m *Machine) release(before guardian.Trail, out []policy.Effect) []policy.Effect {
	if m.cfg.Keep == 0 {
		return out
	}
	trail := m.custody.last().Trail()
	for _, id := range before[:before.Len()] {
		if id != m.cfg.Self && !trail.Has(id) {
			out = m.guardian.Greet(id, m.custody.last(), out)
		}
	}
	return out
}

// onSoaks: the operation is over, and this host soaks. If this member dies meanwhile, its guardians know for how long.
func (m *Machine) onSoaks(now policy.Instant, takes time.Duration, out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	m.cfg.Marks.Hit(markSoaks)
	m.guardian.Soaks(now.Time, takes, m.custody.held())
	return m.guardian.Heartbeat(now.Time, m.custody.held(), out)
}

// giveUp ends the holding of the token without a handoff. A handoff appends an effect of its own.
func (m *Machine) giveUp(why policy.Cause, out []policy.Effect) []policy.Effect {
	kept := m.custody.keeps()
	m.custody.giveUp()
	m.guardian.DropKeep()
	if kept {
		out = m.save(out)
	}
	return policy.AppendGave(out, why, wire.MemberID{}, &m.custody.last().Ref)
}

// letGo gives the token up. A run continues without it; everything else that this member does with the token ends.
func (m *Machine) letGo(now policy.Instant, why policy.Cause, out []policy.Effect) []policy.Effect {
	out = m.giveUp(why, out)
	if m.custody.in(running) {
		m.cfg.Marks.Hit(markLostInRun)
		return m.preSign(out)
	}
	m.becomeAbsent(now)
	return out
}

// discard takes a token that arrives and gives it up at once.
func discard(how, why policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect) []policy.Effect {
	out = policy.AppendTook(out, how, from, &token.Ref)
	return policy.AppendGave(out, why, wire.MemberID{}, &token.Ref)
}

// preSign replaces the messages that the guard of the run sends if this process dies: the token, its number or its
// guardians have changed, or this member no longer holds it. Under a kept grant the guard sends none: a host that goes
// down may be on its way to come back.
func (m *Machine) preSign(out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	out = policy.AppendTakeBack(out, m.cfg.Slot)
	if m.custody.holds() && !m.custody.keeps() {
		out = m.guardian.PreSign(m.custody.last(), out)
	}
	return out
}

// chooseGuardiansAgain chooses the guardians again after the view has changed. New guardians get a heartbeat at once.
func (m *Machine) chooseGuardiansAgain(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.holds() || m.guardian.Doubting() || m.custody.isResumed() || m.custody.handsBack() {
		return out // While a token is handed back, only those who kept it know whether it is still this member's.
	}
	before := m.custody.last().Trail()
	m.walk.chooseGuardians(&m.cfg, now.Time, m.custody.last())
	if m.custody.last().Trail() != before {
		m.cfg.Marks.Hit(markOtherGuardians)
		out = m.release(before, m.preSign(m.guardian.Hold(now.Time, m.custody.last(), out)))
		if m.custody.keeps() {
			out = m.save(out)
		}
		out = m.goOnKept(now, out)
	}
	return out
}

// expectsWord reports whether a message of a holder or guardian is news. A restarted member knows no token, and does
// not keep a copy of a token whose number is below the numbers that it has seen: such a heartbeat may be a replay. An
// answer to its own question is no replay.
func (m *Machine) expectsWord(msg *wire.Message) bool {
	switch {
	case msg.Kind == KindInquiry || msg.Kind == KindIntent:
		return !m.custody.in(gone)
	case msg.Kind == KindSeen || msg.Kind == KindUnseen:
		return m.loss.expectsAnswer(msg)
	case msg.Kind == KindConsent || msg.Kind == KindObjection:
		return m.consent.isAnswer(msg, m.custody.asked(), &m.walk.peers)
	}
	if m.mayBeReplay(msg) {
		return m.custody.holdsCopy(msg.Token.ID) || m.custody.meetsAnother(msg, &m.guardian)
	}
	if m.custody.in(gone) {
		return false
	}
	return m.guardian.Expects(msg, m.custody.held()) || m.custody.meetsAnother(msg, &m.guardian) ||
		m.loss.isGreeting(msg)
}

// mayBeReplay reports whether a word of a holder has a number below those that this member has seen, is no answer to
// its question, and is about a token of which it knows nothing. It may have known more: a member remembers one token.
func (m *Machine) mayBeReplay(msg *wire.Message) bool {
	word := msg.Kind == guardian.KindHeartbeat || msg.Kind == guardian.KindKeep
	if !word || !m.numbers.IsOld(msg.Token.Seq) || m.guardian.Meets(msg) {
		return false
	}
	t, known := m.guardian.Latest(msg.Token.ID)
	return !known || t.Seq == 0
}

// onWord handles a message that belongs to no handoff.
func (m *Machine) onWord(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	o := m.outlook()
	switch msg.Kind {
	case KindInquiry:
		m.walk.noteAsker(&m.cfg, msg.From)
		out = m.loss.onInquiry(&o, now, msg, m.custody.holds() || m.custody.in(running), out)
	case KindSeen:
		out = m.loss.onSeen(&o, now, msg, m.numbers.Witness(now, msg, out))
	case KindUnseen:
		m.loss.onUnseen(&o, now, msg)
	case KindIntent:
		out = m.onIntent(now, msg, out)
	case KindConsent, KindObjection:
		out = m.onReply(now, msg, out)
	default:
		out = m.onGuarding(now, msg, out)
	}
	return out
}

// onGuarding handles a message of a holder or guardian. A holder answers the heartbeat of another token also where that
// may be a replay, but does not guard that token then.
func (m *Machine) onGuarding(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if msg.Kind == guardian.KindAsk {
		out = m.handoff.Refuse(msg, out)
		if m.custody.rise(msg) {
			m.cfg.Marks.Hit(markRises)
			out = m.preSign(out)
		}
	}
	out = m.numbers.Witness(now, msg, out)
	another := m.custody.meetsAnother(msg, &m.guardian)
	if m.loss.isGreeting(msg) && !another && !m.guardian.Expects(msg, m.custody.held()) {
		m.cfg.Marks.Hit(markGreeted)
		m.loss.noteRival(msg.From)
		return out
	}
	if msg.Kind == guardian.KindHeartbeat {
		out = m.loss.meet(out)
	}
	told := len(out)
	var verdict guardian.Outcome
	guards := !m.mayBeReplay(msg) || m.guardian.KnowsTombstone(&msg.Token)
	if !another || guards && m.guardian.Expects(msg, m.custody.held()) {
		out = m.guardian.Receive(now.Time, msg, m.custody.held(), &verdict, out)
	}
	if another && len(out) == told { // It has had no other answer.
		m.cfg.Marks.Hit(markMetAnother)
		out = m.custody.answerAnother(msg, &m.guardian, out)
	}
	switch msg.Kind {
	case guardian.KindHeartbeat:
		// It ends a guardian's silence: a heartbeat of the holder counts like a visit of the token. A heartbeat of an
		// overtaken or removed copy does not count.
		if t, holder := m.guardian.Last(); holder == msg.From && t.ID == msg.Token.ID && t.Seq == msg.Token.Seq {
			m.loss.begin(now.Time)
		}
	case guardian.KindAsk:
		out = m.custody.vouch(msg, out)
	case guardian.KindKept:
		out = m.onKept(now, out)
	}
	return m.onVerdict(now, &verdict, out)
}

// onImpossible handles a message with a number that is not believed. A holder may have such a number all the same: for
// as long as its clock and this one differ, or because it has continued from the highest possible number that a member
// has named. So a question is answered, and an answer proves that a holder lives; the number itself changes nothing.
func (m *Machine) onImpossible(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markUnbelieved)
	out = policy.AppendTell(out, soft.NoteSeqRefused, msg.From, &msg.Token)
	switch {
	case msg.Token.Slot != m.cfg.Slot || m.custody.in(gone):
	case msg.Kind == KindIntent:
		out = m.onIntent(now, msg, out)
	case msg.Kind == guardian.KindAsk:
		out = m.custody.vouch(msg, m.guardian.Reply(now.Time, msg, m.custody.held(), out))
	case m.guardian.Meets(msg):
		m.cfg.Marks.Hit(markUnbelievedAnswer)
		m.custody.hear()
		m.guardian.Wait(now.Time)
	}
	return out
}

func (m *Machine) onVerdict(now policy.Instant, v *guardian.Outcome, out []policy.Effect) []policy.Effect {
	switch v.Ending {
	case guardian.Pending:
	case guardian.Revived:
		if v.Kept {
			m.cfg.Marks.Hit(markStayedAway)
			out = policy.AppendTell(out, policy.NoteStayedAway, v.Peer, &v.Token.Ref)
		}
		out = m.onRevived(now, v.Peer, &v.Token, out)
	case guardian.Overtaken:
		out = m.onOvertaken(now, v.Peer, &v.Token, out)
	case guardian.Sure:
		out = m.onSure(now, out)
	case guardian.Answered:
		out = m.onAnswered(now, out)
	}
	return out
}

// onRevived makes this member, a guardian, the holder of its token, because no holder was found. The token keeps its
// identity and gets a number above every number that the lost copy can have reached. It has rested while its guardians
// waited. So it is passed on at once, unless this member is due: other members may have become due since it was lost,
// while a guardian ran recently.
func (m *Machine) onRevived(
	now policy.Instant, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	if !from.IsZero() {
		m.walk.shun(&m.cfg, now.Time, from, m.handoff.Patience())
	}
	m.cfg.Marks.Hit(markRevives)
	token.Seq = m.numbers.Revived(token.Seq, m.cfg.Entropy)
	m.handoff.Forget(token.ID)
	out = m.save(policy.AppendTell(out, NoteRevived, from, &token.Ref))
	switch {
	case m.custody.holdsOlder(token.ID):
		return m.onMeeting(now, policy.CauseRevived, from, token, out)
	case m.removes(now.Time, token):
		m.cfg.Marks.Hit(markRevivedRemoved)
		return m.remove(now, policy.CauseRevived, from, token, out)
	case m.custody.holds():
		m.cfg.Marks.Hit(markRevivedWhileHolding)
		return m.onMeeting(now, policy.CauseRevived, from, token, out)
	}
	out = m.take(now, policy.CauseRevived, from, token, out)
	switch {
	case m.custody.in(running):
	case now.Time >= m.dueAt(now.Time):
		out = m.serve(now, out)
	default:
		out = m.pass(now, out)
	}
	return out
}

// concerns reports whether an event may have an effect. An unexpected message must have none. A host that was asleep
// gives its token up in any case.
func (m *Machine) concerns(now policy.Instant, ev *policy.Event) bool {
	switch ev.Kind {
	case policy.Suspended:
		return false
	case policy.Received:
		msg := &ev.Msg
		// These messages have an effect although their number is not believed: see onImpossible.
		anyway := msg.Kind == guardian.KindAsk || msg.Kind == KindIntent || m.guardian.Meets(msg)
		return (anyway || m.numbers.Believes(now, &msg.Token)) && m.Expects(msg)
	case policy.Started, policy.PeersChanged, policy.Saved, policy.Finished, policy.Soaks, policy.Wanted,
		policy.Unwanted, policy.Directed, policy.Renew, policy.Leave, policy.Woke:
	}
	return true
}

// doubt asks the guardians before this member runs or passes the token on: it was away for longer than their patience
// while it held the token. A run in progress continues.
func (m *Machine) doubt(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markDoubts)
	m.handoff.Withdraw()
	out = m.retract(out)
	if !m.custody.in(running) {
		m.custody.doubt()
	}
	return m.guardian.Doubt(now.Time, m.custody.last(), out)
}

// onSure continues from where the holder was: no member knows of another copy. If no member answered at all, it yields.
// The view may have changed meanwhile.
func (m *Machine) onSure(now policy.Instant, out []policy.Effect) []policy.Effect {
	unheard := m.custody.in(doubting) && m.custody.unheard() && !m.walk.Alone()
	if unheard && !(m.custody.leaves() && m.handoff.Failures() < lastOffers) {
		m.cfg.Marks.Hit(markSureOfNothing)
		return m.yield(now, out)
	}
	if m.custody.isResumed() {
		m.cfg.Marks.Hit(markSureResumed)
		out = m.guardian.Hold(now.Time, m.custody.last(), out)
	} else {
		out = m.assignGuardians(now, out)
	}
	out = m.preSign(out)
	due := m.dueAt(now.Time)
	goesOn := m.custody.leaves() || m.walk.Alone() || now.Time >= due || m.dueSoon(now.Time, due)
	switch {
	case !m.custody.in(doubting):
	case goesOn:
		out = m.serve(now, out)
	default:
		out = m.pass(now, out)
	}
	return out
}

// onAnswered offers the token to the next member: only the member to which it was offered is gone. This member has
// waited long enough for one offer. It does not also wait for its own turn, because that would delay the others.
func (m *Machine) onAnswered(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markAnswered)
	out = m.assignGuardians(now, out)
	if m.custody.leaves() || now.Time < m.dueAt(now.Time) {
		return m.pass(now, out)
	}
	return m.serve(now, out)
}

// onOvertaken discards the held token: another member has a copy with a higher number.
func (m *Machine) onOvertaken(
	now policy.Instant, from wire.MemberID, higher *guardian.Token, out []policy.Effect,
) []policy.Effect {
	m.cfg.Marks.Hit(markOvertaken)
	out = policy.AppendTell(out, NoteOvertaken, from, &m.custody.last().Ref)
	out = m.guardian.Correct(m.custody.last(), higher, out)
	m.handoff.Withdraw()
	out = m.letGo(now, policy.CauseOvertaken, m.retract(out))
	if m.custody.in(running) && (m.cfg.OnLost == soft.Stop || m.custody.isResumed()) {
		m.cfg.Marks.Hit(markStopsRun)
		out = m.schedule.Stop(out)
	}
	return out
}

// discardOutdated discards an arriving copy that another copy has overtaken.
func (m *Machine) discardOutdated(
	now policy.Instant, from wire.MemberID, t, latest *guardian.Token, out []policy.Effect,
) []policy.Effect {
	m.loss.begin(now.Time)
	out = policy.AppendTell(out, NoteOutdated, from, &t.Ref)
	out = discard(policy.CauseReceived, policy.CauseOvertaken, from, t, out)
	return m.guardian.Correct(t, latest, out)
}
