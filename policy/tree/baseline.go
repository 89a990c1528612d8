package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// consult: "A requesting node Si suspects a failure when it does not receive the token after a certain timeout. In this
// case, Si broadcasts a CONSULT message in order to check the state of its predecessor node in the next queue."
// (section 3)
func (m *Machine) consult(now policy.Time, out []policy.Effect) []policy.Effect {
	m.alarm(consultTimer, now, m.timers().Liveness)
	return m.diffuse(KindConsult, policy.AppendTell(out, NoteConsult, m.cfg.Self, nil))
}

// failure: "If Si does not receive another response within a timeout, it suspects that either its predecessor has
// crashed or its token request has been lost. Si then broadcasts a FAILURE message to detect the presence of the
// token." (section 3)
func (m *Machine) failure(now policy.Time, out []policy.Effect) []policy.Effect {
	m.alarm(failureTimer, now, m.timers().Reconnection)
	m.repeatLater(now)
	return m.diffuse(KindFailure, policy.AppendTell(out, NoteFailure, m.cfg.Self, nil))
}

// startElection: "Global reinitialization: if after a timeout, Si has not received an answer to its FAILURE message, it
// becomes a candidate to regenerate the token. Si then broadcasts an ELECTION message." (section 3)
func (m *Machine) startElection(now policy.Time, out []policy.Effect) []policy.Effect {
	if m.election.leader != nobody && m.election.leader < m.self && now < m.election.until {
		m.alarm(commitTimer, now, m.timers().Commit)
		return out
	}
	m.candidate = true
	m.alarm(electionTimer, now, m.timers().Reconnection)
	m.repeatLater(now)
	return m.diffuse(KindElection, policy.AppendTell(out, NoteElection, m.cfg.Self, nil))
}

// elected: "the site with the smallest identifier wins the election and broadcasts an ELECTED message to inform all
// sites that it is the new token owner" (section 3).
func (m *Machine) elected(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.candidate = false
	return m.mayRegenerate(now, out)
}

// onBaseline hands a message of section 3 to its routine.
func (m *Machine) onBaseline(now policy.Instant, msg *wire.Message, b *body, out []policy.Effect) []policy.Effect {
	switch kind := msg.Kind; {
	case kind == KindConsult: // "Upon receiving this message, node Sj answers Si only if the latter is Sj's next."
		if m.next.rank == b.from {
			out = m.answer(KindConsulted, b.from, out)
		}
	case kind == KindConsulted:
		if m.timer == consultTimer && m.liveness.blind < maxConsults {
			m.liveness.blind++
			m.alarm(commitTimer, now.Time, m.timers().Commit)
		}
	case kind == KindFailure:
		m.searches.add(b.from, none, now.Time.Add(m.timers().Reconnection))
		if m.holds {
			out = m.answer(KindPresent, b.from, out)
		}
	case kind == KindPresent:
		return m.receivePresent(now.Time, b, out)
	case kind == KindElection:
		return m.receiveElection(now.Time, b, out)
	case kind == KindElected:
		return m.receiveElected(now.Time, &msg.Token, b, out)
	}
	return out
}

// maxConsults is how often in a row a site is content with its predecessor's answer. Section 3 has no such bound, and
// hangs: an individual recovery can put a site behind a site that waits behind it. In such a circle every site has a
// predecessor that answers.
const maxConsults = 8

// receivePresent: "Individual failure recovery: if Si receives an answer from the token holder Sk, then Si retransmits
// its request directly to Sk. The broken next queue is not rebuilt." (section 3)
func (m *Machine) receivePresent(now policy.Time, b *body, out []policy.Effect) []policy.Effect {
	if m.timer != failureTimer && m.timer != electionTimer {
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil)
	}
	m.candidate = false
	return m.request(now, b.from, out)
}

// receiveElection: "If several nodes are candidate, the site with the smallest identifier wins the election" (section
// 3). A holder answers ELECTION as it answers FAILURE.
func (m *Machine) receiveElection(now policy.Time, b *body, out []policy.Effect) []policy.Effect {
	e := &m.election
	m.searches.add(b.from, none, now.Add(m.timers().Reconnection))
	if e.leader == nobody || now >= e.until || b.from < e.leader {
		e.leader, e.until = b.from, now.Add(m.timers().Reconnection)
	}
	switch {
	case m.holds:
		return m.answer(KindPresent, b.from, out)
	case m.candidate && b.from < m.self:
		m.candidate = false
		m.alarm(commitTimer, now, m.timers().Commit)
		return policy.AppendTell(out, NoteLostElection, m.cfg.Roster[b.from], nil)
	}
	return out
}

// receiveElected: "When receiving this message, a site sets its last to the new token owner and its next to NIL.
// Pending requests are lost, and sites must renew their requests." (section 3) A token that rests here is older, and is
// discarded. A section in progress ends first.
func (m *Machine) receiveElected(now policy.Time, token *wire.Ref, b *body, out []policy.Effect) []policy.Effect {
	if token.Seq <= m.seen {
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], token)
	}
	m.see(token.Seq)
	m.last, m.next, m.candidate, m.election.leader = b.from, link{rank: nobody}, false, nobody
	switch {
	case m.idle():
		return m.discard(now, NoteOvertaken, policy.CauseOvertaken, out)
	case m.holds || !m.req:
		return out
	}
	return m.request(now, b.from, out)
}

// outdated reports whether this site knows of a token that was made after the given one.
func (m *Machine) outdated(token *wire.Ref) bool { return token.Seq.NextEpoch() < m.known.NextEpoch() }

func (m *Machine) discard(now policy.Time, note policy.Note, why policy.Cause, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, note, wire.MemberID{}, &m.token)
	out = policy.AppendGave(out, why, wire.MemberID{}, &m.token)
	m.gone(now)
	return out
}
