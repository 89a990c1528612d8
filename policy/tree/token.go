package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// enterCS begins the section: the token is here, and this site has asked for it. If no caller here wants it any more,
// the token goes on: rule (vi).
func (m *Machine) enterCS(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.wanted {
		return m.releaseCS(now, out)
	}
	m.wanted, m.running, m.hasRun, m.lastRun = false, true, true, now.Time
	out = policy.AppendSave(out, policy.State{Seq: m.token.Seq, HasRun: true, LastRun: now.Time})
	out = policy.AppendTell(out, NoteRan, wire.MemberID{}, &m.token)
	return policy.AppendRun(out, &m.token, policy.Never)
}

func (m *Machine) onFinished(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.running = false
	out = m.releaseCS(now, out)
	if m.wanted && !m.req && !m.passing && !m.leaving {
		out = m.reqCS(now, out)
	}
	return out
}

// releaseCS is ReleaseCS, lines 9–14. Rule (i): "line 14 (pos ← −1) belongs inside the if": an idle holder keeps its
// position.
func (m *Machine) releaseCS(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.req = false // line 10
	if m.holds && m.outdated(&m.token) {
		return m.discard(now.Time, NoteOvertaken, policy.CauseOvertaken, out)
	}
	if m.next.rank != nobody { // line 11
		return m.sendTOKEN(now, m.next, out)
	}
	m.becomeIdle()
	if m.leaving {
		return m.passAnywhere(now, out)
	}
	return out
}

// sendTOKEN is lines 12–14 and 22–23: "Send ⟨TOKEN⟩", next ← NIL, pos ← -1. On UDP the assignments wait until the
// handoff ends.
func (m *Machine) sendTOKEN(now policy.Instant, to link, out []policy.Effect) []policy.Effect {
	m.next = to
	b := m.say(to.rank, to.number)
	m.token.Seq = m.token.Seq.After()
	if m.handoff != nil {
		var load wire.Load
		b.write(&load)
		m.passing = true
		return m.handoff.Offer(now.Time, &m.token, &load, m.cfg.Roster[to.rank], out)
	}
	out = policy.AppendGave(out, policy.CausePassed, m.cfg.Roster[to.rank], &m.token)
	out = m.send(KindToken, to.rank, b, out)
	out[len(out)-1].Msg.Token = m.token
	m.gone(now.Time)
	return out
}

// gone records that the token is not here any more.
func (m *Machine) gone(now policy.Time) {
	m.holds, m.passing = false, false
	m.see(m.token.Seq)
	m.next, m.pos = link{rank: nobody}, none // lines 13, 14, 23
	m.forgetPredecessors()
	m.since = now
}

// receiveToken is ReceiveToken, lines 27–28, on links that lose nothing.
func (m *Machine) receiveToken(now policy.Instant, from wire.MemberID, token *wire.Ref, b *body,
	out []policy.Effect,
) []policy.Effect {
	if b.origin != m.self || m.cfg.Links != Paper {
		return policy.AppendTell(out, NoteForeign, from, token)
	}
	return m.arrive(now, from, token, b, out)
}

// arrive takes a token, or discards it if there is a newer one: the number of a regenerated token is above all numbers
// that the lost token can have reached.
func (m *Machine) arrive(now policy.Instant, from wire.MemberID, token *wire.Ref, b *body,
	out []policy.Effect,
) []policy.Effect {
	switch {
	case token.Seq <= m.seen || m.outdated(token):
		out = policy.AppendTook(out, policy.CauseReceived, from, token)
		out = policy.AppendTell(out, NoteOutdated, from, token)
		return policy.AppendGave(out, policy.CauseOvertaken, from, token)
	case m.holds:
		return m.arriveSecond(now, from, token, out)
	}
	m.holds, m.token = true, *token
	m.see(token.Seq)
	out = policy.AppendTook(out, policy.CauseReceived, from, token)
	out = policy.AppendTell(out, NoteArrived, from, token)
	m.resetAlarm() // line 28
	m.candidate, m.asksToRegenerate = false, false
	m.servedNumber = b.number
	out = m.takePosition(after(b.pos), out)
	if b.from != nobody {
		m.searches.sites[b.from].until = 0 // It had the token.
	}
	out = m.answerSearches(now.Time, out)
	out = m.leavePredecessor(b.from, out)
	if m.req {
		return m.enterCS(now, out)
	}
	return m.releaseCS(now, out) // Rule (vi): "a token for a site that no longer wants it goes on to its next".
}

// arriveSecond handles a second token: the one with the lower number is discarded. A section in progress ends under its
// old number. A resource that checks numbers refuses the old number from then on. If the old token was on offer, the
// offer is withdrawn, and next gets the one that came: the answer to that offer would give away what is not here.
func (m *Machine) arriveSecond(now policy.Instant, from wire.MemberID, token *wire.Ref,
	out []policy.Effect,
) []policy.Effect {
	old := m.token
	m.token = *token
	m.see(token.Seq)
	out = policy.AppendGave(out, policy.CauseOvertaken, from, &old)
	out = policy.AppendTook(out, policy.CauseReceived, from, token)
	out = policy.AppendTell(out, NoteOvertaken, from, &old)
	if m.passing {
		m.passing = false
		m.handoff.Withdraw()
		return m.releaseCS(now, out)
	}
	return out
}

func (m *Machine) see(seq wire.Seq) { m.seen, m.known = max(m.seen, seq), max(m.known, seq) }

// takePosition gives this site a position: "a token that came without COMMIT gives one, told to next at once" (rule
// (i)).
func (m *Machine) takePosition(pos position, out []policy.Effect) []policy.Effect {
	if m.pos != none {
		return out
	}
	m.pos = pos
	if m.next.rank == nobody || m.holds && !m.wanted {
		return out // In the second case the token itself tells next.
	}
	return m.sendCommit(out)
}

// leavePredecessor tells a predecessor that this site is not its next, if the token came from another site.
func (m *Machine) leavePredecessor(from rank, out []policy.Effect) []policy.Effect {
	if p := m.pred[0]; p != nobody && p != from && m.cfg.Recovery == Fair {
		out = m.refuse(p, link{m.self, m.commitNumber}, out)
	}
	m.forgetPredecessors()
	return out
}

func (m *Machine) onHandoff(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	switch {
	case m.handoff == nil:
		return policy.AppendTell(out, NoteForeign, msg.From, nil)
	case msg.Token.Seq > m.cfg.latest(now.Wall):
		return policy.AppendTell(out, NoteImpossible, msg.From, &msg.Token)
	}
	m.handoff.outcome.Ending = handoff.Pending
	out = m.handoff.Receive(now.Time, msg, &m.handoff.outcome, out)
	return m.onOutcome(now, out)
}

func (m *Machine) wakeHandoff(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.handoff.outcome.Ending = handoff.Pending
	out = m.handoff.Wake(now.Time, &m.handoff.outcome, out)
	return m.onOutcome(now, out)
}

// onOutcome handles the end of a handoff. After a failed one the token is still here: the receiver is down, and the
// sites behind it find this site.
func (m *Machine) onOutcome(now policy.Instant, out []policy.Effect) []policy.Effect {
	o := &m.handoff.outcome
	switch o.Ending {
	case handoff.Passed:
		m.gone(now.Time)
		if m.wanted && !m.leaving {
			out = m.reqCS(now, out)
		}
		return out
	case handoff.Failed:
		m.passing = false
		if m.member(m.next.rank) == o.Peer {
			m.next = link{rank: nobody}
		}
		if m.wanted && !m.leaving {
			m.req = true
			return m.enterCS(now, out)
		}
		return m.releaseCS(now, out)
	case handoff.Arrived:
		b := &m.in
		if !m.read(&o.Load, o.Peer, b) || !m.believes(now, b) {
			b.from, b.pos, b.number = nobody, none, 0
		}
		return m.arrive(now, o.Peer, &o.Token, b, out)
	case handoff.Pending:
	}
	return out
}
