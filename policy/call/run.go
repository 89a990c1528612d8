package call

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// next decides what happens to a token that rests here, or waits for a word. word is true if a home has just answered.
//
// R7 Who is next. "After the run the oldest waiter is offered the token, avoided members last; without waiters it
// rests. The holder comes again only by age." Here these come last only once an offer has failed: see oldest. Those
// that are known not to answer offers take turns: see turns.
func (m *Machine) next(now policy.Instant, word bool, out []policy.Effect) []policy.Effect {
	if !m.custody.holds() {
		return out
	}
	own := m.caller.waits() && m.wants(now.Time)
	w, late := m.queue.oldest(&m.view, now.Time, m.cfg.Self, m.view.isHome(&m.cfg, m.cfg.Self))
	switch {
	case m.custody.leaving:
		return m.passOn(now, w, out)
	case now.Time < m.unusedUntil():
		return m.becomeResting(out)
	case own && m.custody.in(asking):
		if word || m.alone(now.Time) {
			return m.ask(now, word, out)
		}
		return out
	case own && (w == nil || m.caller.since <= w.since || late > inTime):
		return m.ask(now, false, out)
	case w != nil && !m.view.Alone():
		return m.offer(now, w.id, out)
	}
	return m.becomeResting(out)
}

// becomeResting lets the token rest here, if it does not do so already.
func (m *Machine) becomeResting(out []policy.Effect) []policy.Effect {
	if m.custody.in(resting) {
		return out
	}
	m.custody.become(resting)
	return policy.AppendTell(out, NoteResting, wire.MemberID{}, &m.custody.token.Ref)
}

// ask begins a run if a home has vouched for the token, and otherwise waits for that.
//
// R8 Word before a run. "A run needs a word younger than P: the Queued that named exactly the number that was then
// offered, or a Heard to this visit's Heartbeat. A resting holder that wants its token sends Heartbeats under its old
// number and waits for the first Heard; only then it raises the number: a stale copy would pass for the newest. Without
// any answer it does not run and goes on asking, unless it is alone. A silent holder cannot know that it was declared
// dead."
func (m *Machine) ask(now policy.Instant, word bool, out []policy.Effect) []policy.Effect {
	if word || m.alone(now.Time) || m.word(now.Time) {
		return m.grant(now, out)
	}
	m.cfg.Marks.Hit(markAsks)
	m.custody.become(asking)
	if m.arrival.id == 0 {
		return m.announce(now, out)
	}
	return out
}

// grant grants the protected operation. The run is saved before it starts, so that a restart within min_interval does
// not run it again.
func (m *Machine) grant(now policy.Instant, out []policy.Effect) []policy.Effect {
	c, before := &m.custody, m.custody.token.Seq
	c.token.Seq = m.numbers.Grant(before)
	m.schedule.Grant(m.cfg.terms(), now.Time)
	c.become(saving)
	c.grants, m.queue.turns.last = true, false
	m.known.witness(now.Time, &c.token.Ref, m.cfg.Self)
	switch {
	case m.cfg.Keep > 0:
		return m.askToKeep(now, out)
	case c.token.Seq != before:
		out = m.guardian.Hold(now.Time, &c.token, out)
	}
	return m.saveGrant(now, out)
}

// saveGrant saves the start of the granted run.
func (m *Machine) saveGrant(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.asksKeep, m.custody.until = false, now.Time.Add(m.cfg.SaveWithin())
	return m.save(out)
}

// onSaved starts the run that waited for its save, or passes on the token that did.
func (m *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	m.numbers.Saved()
	out = m.guardian.Saved(failed, out)
	c := &m.custody
	switch {
	case !c.in(saving), c.asksKeep:
		return out
	case !c.grants:
		m.cfg.Marks.Hit(markSavedForHandoff)
		c.become(resting)
		return m.next(now, false, out)
	case failed || now.Time >= c.until:
		return m.deny(now, out)
	case m.schedule.CalledOff():
		m.cfg.Marks.Hit(markCalledOff)
		return m.next(now, false, m.retract(out))
	}
	c.become(running)
	m.arrival.heard = false // The next run needs a word of its own.
	m.schedule.Begin(now.Time, c.token.ID, m.view.Count())
	m.caller.end()
	out = policy.AppendTell(out, NoteRan, wire.MemberID{}, &c.token.Ref)
	out = policy.AppendRun(out, &c.token.Ref, c.until)
	out[len(out)-1].Demanded = m.schedule.IsCallers()
	if c.kept {
		return out
	}
	return m.guardian.PreSign(&c.token, out)
}

// deny ends a grant that leads to no run: the others have their turns first.
func (m *Machine) deny(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markDenied)
	out = policy.AppendTell(out, NoteDenied, wire.MemberID{}, &m.custody.token.Ref)
	out = m.retract(out)
	m.custody.deniedUntil = now.Time.Add(m.cfg.Skip)
	m.caller.end()
	return m.rest(now, out)
}

// rest is called when nothing is done with the token any longer.
func (m *Machine) rest(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.holds() {
		m.cfg.Marks.Hit(markRunOverLost)
		m.custody.become(absent)
		return out
	}
	m.custody.become(resting)
	return m.next(now, false, out)
}

// retract withdraws a grant whose run has not started, and saves the state before it.
func (m *Machine) retract(out []policy.Effect) []policy.Effect {
	c := &m.custody
	if !c.granting() {
		return out
	}
	m.cfg.Marks.Hit(markRetracted)
	c.grants = false
	c.become(resting)
	return m.save(m.loseKept(out))
}

// onFinished ends a run: "after the run the oldest waiter is offered the token" (R7).
func (m *Machine) onFinished(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	m.schedule.End(ev.Denied)
	setServed(&m.custody.token.Load, served{})
	out = m.endKept(now, out)
	if m.guardian.EndSoak(now.Time, ev.SoakGoesOn, m.custody.held()) && m.custody.holds() {
		out = m.announce(now, out)
	}
	if ev.Denied {
		return m.deny(now, m.save(out))
	}
	note, changed := m.schedule.Conclude(m.cfg.terms(), now.Time, ev.Outcome)
	if note != 0 {
		out = policy.AppendTell(out, note, wire.MemberID{}, &m.custody.token.Ref)
	}
	if changed {
		out = m.save(out)
	}
	return m.rest(now, out)
}

// onSoaks: the operation is over, and this host soaks. If this member dies meanwhile, its homes know for how long.
func (m *Machine) onSoaks(now policy.Instant, takes time.Duration, out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	if m.guardian.Soaks(now.Time, takes, m.custody.held()); m.custody.holds() {
		out = m.announce(now, out)
	}
	return out
}

// unusedUntil is until when the held token is not used: a former holder has gone in its soak. Zero: it is used.
func (m *Machine) unusedUntil() policy.Time {
	if !m.custody.holds() {
		return 0
	}
	return m.guardian.Unused()
}

// save saves the state of this member.
func (m *Machine) save(out []policy.Effect) []policy.Effect {
	m.guardian.Saving()
	return policy.AppendSave(out, m.record())
}

// record is the state of this member as it is saved.
func (m *Machine) record() policy.State {
	c := &m.custody
	s, ran := m.schedule.Record(m.cfg.terms())
	s.Seq = m.numbers.Highest()
	if c.granting() && !c.asksKeep && !m.schedule.IsCallers() {
		s.HasRun, s.LastRun = true, c.until.Add(-m.cfg.SaveWithin())
		ran.Token, ran.Wait, ran.Members = c.token.ID, 0, uint32(m.view.Count())
	}
	s.Memo, s.Kept = ran.Bytes(), m.kept()
	return s
}

// preSign replaces the messages that the guard of the run sends if this process dies. Under a kept grant it sends none:
// a host that goes down may be on its way to come back.
func (m *Machine) preSign(out []policy.Effect) []policy.Effect {
	if !m.custody.in(running) {
		return out
	}
	out = policy.AppendTakeBack(out, m.cfg.Slot)
	if m.custody.holds() && !m.custody.kept {
		out = m.guardian.PreSign(&m.custody.token, out)
	}
	return out
}

// offer offers the token.
//
// R9 On the way "the sender is the first guardian until the receiver's Heartbeat".
func (m *Machine) offer(now policy.Instant, to wire.MemberID, out []policy.Effect) []policy.Effect {
	c := &m.custody
	if m.numbers.MustSave(c.token.Seq) {
		c.become(saving)
		m.cfg.Marks.Hit(markMustSave)
		c.grants, c.until = false, now.Time.Add(m.cfg.SaveWithin())
		return out
	}
	c.become(offering)
	m.queue.gives(to)
	c.token.Seq = m.numbers.Passed(c.token.Seq)
	setServed(&c.token.Load, served{})
	load, trail := c.token.Load, c.token.Trail()
	if !c.leaving {
		trail = trail.Behind(m.cfg.Self, to, guardian.MaxBackups)
	}
	guardian.SetTrail(&load, &trail)
	return m.handoff.Offer(now.Time, &c.token.Ref, &load, to, out)
}

// onPassed ends the holding of a token that another member has acknowledged.
func (m *Machine) onPassed(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	m.view.avoid.Forgive(end.Peer)
	m.queue.turns.forget(end.Peer.Hint())
	passed := guardian.Token{Ref: end.Token, Load: end.Load}
	c := &m.custody
	c.holding = false
	c.become(absent)
	m.arrival = arrival{}
	m.birth.touch(now.Time)
	trip := m.handoff.RoundTripWith(end.Peer)
	setTrip(&passed.Load, trip)
	m.guardian.Measured(trip)
	out = m.guardian.Passed(now.Time, c.token.Trail(), &passed, end.Peer, out)
	ref := end.Token
	ref.Seq = ref.Seq.After()
	m.known.witness(now.Time, &ref, end.Peer)
	m.queue.dropTold()
	m.caller.renew(&m.cfg, now.Time)
	return out
}

// onNoAck continues with a token whose offer failed: the homes forget a waiter that does not answer.
func (m *Machine) onNoAck(now policy.Instant, to wire.MemberID, out []policy.Effect) []policy.Effect {
	m.avoid(now.Time, to)
	m.cfg.Marks.Hit(markNoAnswer)
	m.queue.given = served{}
	m.queue.turns.failed(to.Hint())
	if i := m.queue.find(to); i >= 0 {
		w := m.queue.list[i]
		trail := m.custody.token.Trail()
		for _, home := range trail[:trail.Len()] {
			id := wire.Exchange(policy.Draw(m.cfg.Entropy))
			out = m.send(KindNext, home, id, nextUnanswered, &m.custody.token.Ref, out)
			setTold(&out[len(out)-1].Msg.Load, 0, told{to.Hint(), now.Time.Sub(w.since), w.wait})
		}
		m.queue.remove(to)
	}
	if trail := m.custody.token.Trail(); trail.Len() == 0 { // Members may have come while the token was offered.
		m.cfg.Marks.Hit(markHomesWhileOffered)
		m.custody.become(resting)
		out = m.chooseHomes(now, out)
	}
	return m.rest(now, out)
}

// passOn is what a leaving member does with the token: "a leaving holder passes the token to the oldest waiter, else
// there" (R14), to a home.
func (m *Machine) passOn(now policy.Instant, w *waiter, out []policy.Effect) []policy.Effect {
	var to wire.MemberID
	for rank := 0; rank < m.view.found && to.IsZero(); rank++ {
		if id, _ := m.view.home(rank); id != m.cfg.Self && !m.view.avoid.Has(id, now.Time) {
			to = id
		}
	}
	if w != nil && !m.view.avoid.Has(w.id, now.Time) {
		to = w.id
	}
	if !to.IsZero() {
		m.cfg.Marks.Hit(markPassOn)
		return m.offer(now, to, out)
	}
	m.cfg.Marks.Hit(markDropped)
	out = policy.AppendTell(out, NoteDropped, wire.MemberID{}, &m.custody.token.Ref)
	return m.giveUp(now.Time, policy.CauseDropped, out)
}

// giveUp ends the holding of the token without a handoff. A run goes on, or is stopped if the operator has chosen that.
func (m *Machine) giveUp(now policy.Time, why policy.Cause, out []policy.Effect) []policy.Effect {
	c := &m.custody
	m.handoff.Withdraw()
	out = m.retract(out)
	resumed := c.resumed
	c.holding = false
	out = m.loseKept(out)
	m.arrival = arrival{}
	out = policy.AppendGave(out, why, wire.MemberID{}, &c.token.Ref)
	if c.in(running) {
		m.cfg.Marks.Hit(markLostRunning)
		if out = m.preSign(out); m.cfg.OnLost == soft.Stop || resumed {
			out = m.schedule.Stop(out)
		}
		return out
	}
	c.become(absent)
	m.queue.dropTold()
	m.caller.renew(&m.cfg, now)
	return out
}

var _ policy.Askable = (*Machine)(nil)

// SetReady implements [policy.Askable].
func (m *Machine) SetReady(own, callers bool) { m.schedule.SetReady(own, callers) }

// DueAt implements [policy.Askable].
func (m *Machine) DueAt(now policy.Time) policy.Time {
	return m.schedule.IfReady(m.cfg.terms(), now, m.unusedUntil())
}

// notRunning is why this member does not run.
func (m *Machine) notRunning(now, next policy.Time) string {
	why := m.schedule.Why(m.cfg.terms(), now, next)
	switch {
	case m.custody.in(running):
		return WhyRunning
	case m.custody.in(saving):
		return WhySaving
	case m.custody.in(asking):
		return WhyAsking
	case m.custody.leaving:
		return WhyLeaving
	case now < m.unusedUntil():
		return soft.WhyUnused
	case why != "":
		return why
	case m.custody.holds():
		return WhyPassing
	}
	return WhyNoToken
}
