package tree

import "github.com/wanderd/wanderd/policy"

// sendCommit is lines 19–20 and 59: "Send ⟨COMMIT, [Si,pred[0],..,pred[k-2]], pos⟩" to next. "It may happen that when
// Sj sends a COMMIT message to Si it does not have all the above informations yet. In this case, it still sends a
// COMMIT message to Si with the information it holds, which consists of at least its identifier. As soon as it receives
// the remaining information, it sends it in a new message."
func (m *Machine) sendCommit(out []policy.Effect) []policy.Effect {
	if m.cfg.Recovery == Baseline {
		return out
	}
	b := m.say(m.next.rank, m.next.number)
	b.pred[0] = m.self
	b.preds = uint8(1 + copy(b.pred[1:m.cfg.Backups], m.predecessors()))
	return m.send(KindCommit, m.next.rank, b, out)
}

// receiveCommit is ReceiveCommit, lines 29–32.
func (m *Machine) receiveCommit(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	switch {
	case b.origin != m.self || b.preds == 0 || b.pred[0] != b.from:
		return policy.AppendTell(out, NoteForeign, m.cfg.Roster[b.from], nil)
	case b.number == m.servedNumber:
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil) // The token has overtaken it.
	case m.useful(b):
	case b.from == m.pred[0] && b.number == m.commitNumber:
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil) // A COMMIT with more in it has overtaken it.
	default:
		return m.refuse(b.from, link{m.self, b.number}, out)
	}
	if p := m.pred[0]; p != nobody && p != b.from && m.pos == none && b.pos != none {
		out = m.refuse(p, link{m.self, m.commitNumber}, out) // Of two predecessors, the one with a position is better.
	}
	m.commitNumber = b.number
	m.forgetPredecessors()
	copy(m.pred[:m.cfg.Backups], b.pred[:b.preds]) // line 31
	if m.candidate && b.pos == none {
		return out // A candidate searches on until it has a position.
	}
	m.candidate = false
	m.alarm(tokenTimer, now.Time, m.timers().Token) // line 32
	if b.pos == none {
		return out
	}
	m.liveness.blind = 0
	if m.pos == none {
		return m.takePosition(after(b.pos), out) // line 30, and next is told
	}
	m.pos = min(m.pos, after(b.pos)) // line 30
	return out
}

// useful reports whether a COMMIT names a predecessor: a site before this one or, while this site has no position, the
// site that its latest request has found. Of two sites with the same position the lower rank is before the other here,
// too: the searches of both go by that order, and a COMMIT that they lead to would be refused again and again. The
// later of the two keeps its position: with a greater one it would come behind its own next.
func (m *Machine) useful(b *body) bool {
	switch {
	case !m.req || m.holds:
		return false
	case b.pos == none:
		return m.pos == none && b.number >= m.commitNumber
	}
	return m.pos == none || m.precedes(b.pos, b.from)
}

// refuse tells a site that its COMMIT or CONNECTION is of no use. by is the request in question.
func (m *Machine) refuse(to rank, by link, out []policy.Effect) []policy.Effect {
	return m.send(KindRefuse, to, m.say(by.rank, by.number), out)
}

// receiveRefuse handles two cases: the site that was taken for next waits behind another site, or the site that was
// taken for predecessor has left the queue.
func (m *Machine) receiveRefuse(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	switch {
	case b.origin == b.from && m.next.rank == b.from && m.next.number <= b.number && !m.passing:
		m.next = link{rank: nobody}
	case b.origin == m.self && b.number == m.number && m.req && !m.holds &&
		(m.timer == commitTimer || m.timer == tokenTimer):
		return m.timeoutCommit(now, out)
	}
	return out
}
