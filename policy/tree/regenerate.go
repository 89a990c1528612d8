package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// mayRegenerate decides "may I regenerate?". The paper's answer is line 47: no site has answered, so the token is lost.
// This is right in a network that is synchronous and loses nothing; a gate that promises more asks a majority.
func (m *Machine) mayRegenerate(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.cfg.AsksFirst {
		m.asksToRegenerate = true
		m.alarm(commitTimer, now.Time, m.timers().Commit) // The site searches again if the gate does not answer.
		return policy.AppendTell(out, NoteAsksToRegenerate, wire.MemberID{}, nil)
	}
	token := m.newToken(now, m.known.Revived(uint8(m.self)))
	return m.Regenerate(now, &token, out)
}

// AsksToRegenerate reports whether this site has found no token, and waits for permission to make one. Only a site with
// AsksFirst waits. It withdraws the question when a token comes.
func (m *Machine) AsksToRegenerate() bool { return m.asksToRegenerate }

// Regenerate makes a token, lines 48–49: "Regenerate new Token, pos ← 0". The token's number must be above all numbers
// of the gate's tokens. With AsksFirst, the gate calls Regenerate when it has given permission, at a site that does not
// hold the token.
func (m *Machine) Regenerate(now policy.Instant, token *wire.Ref, out []policy.Effect) []policy.Effect {
	m.resetAlarm()
	m.asksToRegenerate, m.candidate = false, false
	out = m.create(token, NoteRegenerated, out)
	m.forgetPredecessors()
	m.pos = none
	if m.cfg.Recovery == Baseline {
		m.last, m.next = nobody, link{rank: nobody}
		out = m.broadcast(KindElected, m.token, m.say(m.self, 0), out)
	}
	out = m.takePosition(0, out) // line 49
	out = m.answerSearches(now.Time, out)
	return m.enterCS(now, out)
}

// newToken returns a token with the given number and an identity that no other token has.
func (m *Machine) newToken(now policy.Instant, seq wire.Seq) wire.Ref {
	return wire.Ref{ID: wire.TokenID{Birth: now.Wall, Generator: m.cfg.Self, Random: m.cfg.Entropy.Uint64()}, Seq: seq}
}

func (m *Machine) create(token *wire.Ref, why policy.Note, out []policy.Effect) []policy.Effect {
	m.token, m.holds = *token, true
	m.see(token.Seq)
	out = policy.AppendTook(out, policy.CauseMade, wire.MemberID{}, &m.token)
	return policy.AppendTell(out, why, wire.MemberID{}, &m.token)
}
