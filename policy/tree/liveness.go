package tree

import (
	"github.com/wanderd/wanderd/policy"
)

// liveness is the check of a site's predecessors.
type liveness struct {
	// round numbers the questions.
	round uint32
	// blind counts the TokenTimers without a position.
	blind uint8
	// asked is the number of predecessors that have not answered yet.
	asked uint8
	// best is the closest predecessor that is alive, bestPos its position.
	best    rank
	bestPos position
}

// maxBlind is "several" in rule (v): "a site without position for several TokenTimers starts SEARCH_QUEUE".
const maxBlind = 3

// timeoutToken is TimeoutToken, lines 33–34: "check the liveness of pred[0]".
func (m *Machine) timeoutToken(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.pos == none {
		m.liveness.blind++
		if m.liveness.blind >= maxBlind {
			m.liveness.blind = 0
			return m.timeoutCommit(now, out)
		}
	}
	if m.pred[0] == nobody {
		return m.timeoutCommit(now, out)
	}
	m.liveness.round++
	m.alarm(livenessTimer, now.Time, m.timers().Liveness)
	return m.ask(m.pred[0], out)
}

func (m *Machine) ask(site rank, out []policy.Effect) []policy.Effect {
	b := m.say(m.self, m.number)
	b.round = m.liveness.round
	return m.send(KindQuestion, site, b, out)
}

// receiveQuestion answers with this site's position and its next. Rule (iii): the answer says "you are my next".
func (m *Machine) receiveQuestion(b *body, out []policy.Effect) []policy.Effect {
	a := m.say(b.from, b.number)
	a.round = b.round
	return m.send(KindAnswer, b.from, a, out)
}

// receiveAnswer makes the decision of line 35, "if pred[0] failed", and collects the answers for line 36.
func (m *Machine) receiveAnswer(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	m.measure(now.Time, b.from)
	if b.round != m.liveness.round {
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil)
	}
	switch {
	case m.timer == livenessTimer && b.from == m.pred[0]:
		return m.firstPredecessorAnswers(now, b, out)
	case m.timer == predsTimer:
		m.consider(b)
		m.liveness.asked--
		if m.liveness.asked == 0 {
			return m.choosePredecessor(now, out)
		}
	case m.timer == displaceTimer && b.from == m.newPred.next:
		return m.nextOfNewPredAnswers(now.Time, b, out)
	}
	return out
}

// firstPredecessorAnswers: pred[0] counts as alive (line 45) with three exceptions: its position is behind mine, it has
// left the queue (both rule (ii)), or it has another next (rule (iii)). Then this site searches.
func (m *Machine) firstPredecessorAnswers(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	if b.flags&flagInQueue == 0 || b.next != m.self || m.pos != none && !m.precedes(b.pos, b.from) {
		out = policy.AppendTell(out, NoteBypassed, m.cfg.Roster[b.from], nil)
		return m.timeoutCommit(now, out)
	}
	m.alarm(tokenTimer, now.Time, m.timers().Token)
	if m.pos == none && b.pos != none {
		m.liveness.blind = 0
		return m.takePosition(after(b.pos), out)
	}
	return out
}

// precedes reports whether a position is before mine: rule (ii), "a predecessor counts as alive only with a position
// smaller than mine".
func (m *Machine) precedes(pos position, site rank) bool {
	return pos != none && before(pos, site, m.pos, m.self)
}

// firstPredecessorFailed is line 36: "if ∃ a minimal x, s.t. pred[x] is alive". All predecessors are asked at once.
func (m *Machine) firstPredecessorFailed(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteSuspected, m.cfg.Roster[m.pred[0]], nil)
	m.liveness.asked, m.liveness.best, m.liveness.bestPos = 0, nobody, none
	if m.pos == none {
		return m.timeoutCommit(now, out)
	}
	m.liveness.round++
	for _, p := range m.pred[1:m.cfg.Backups] {
		if p != nobody && p != m.self {
			out = m.ask(p, out)
			m.liveness.asked++
		}
	}
	if m.liveness.asked == 0 {
		return m.searchPos(now.Time, out)
	}
	m.alarm(predsTimer, now.Time, m.timers().Liveness)
	return out
}

// consider: "among all the answers received from its non faulty predecessors, Si chooses the one, Sx, with the greatest
// position to become its closest predecessor" (section 4.1).
func (m *Machine) consider(b *body) {
	if m.precedes(b.pos, b.from) && b.pos > m.liveness.bestPos {
		m.liveness.best, m.liveness.bestPos = b.from, b.pos
	}
}

// choosePredecessor is lines 37–43.
func (m *Machine) choosePredecessor(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.liveness.best == nobody {
		// line 39; rule (ii): "one that has left the queue with pred[0] dead means SEARCH_POS"
		return m.searchPos(now.Time, out)
	}
	m.alarm(tokenTimer, now.Time, m.timers().Token) // line 38
	return m.connect(m.liveness.best, out)          // line 37
}
