package tree

import "github.com/wanderd/wanderd/policy"

// onWanted records a demand: a caller at this member waits for a section.
func (m *Machine) onWanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.wanted = true
	if m.req || m.passing || m.leaving {
		return out
	}
	return m.reqCS(now, out)
}

// reqCS is ReqCS, lines 1–8.
func (m *Machine) reqCS(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.req, m.liveness.blind = true, 0 // line 2
	if m.holds {
		return m.enterCS(now, out) // line 3, last = NIL: the token is here
	}
	if m.last == nobody {
		// A recovery has made this site a root without a token. It asks where the queue is.
		return m.giveUpWaiting(now, out)
	}
	to := m.last
	m.last = nobody // line 5
	return m.request(now.Time, to, out)
}

// request sends a request, or sends it again: "Send ⟨REQ, Si⟩ to last" (line 4), "Alarm (CommitTimer)" (line 6). Rule
// (vi): each request, also a repeated one, has its own number.
func (m *Machine) request(now policy.Time, to rank, out []policy.Effect) []policy.Effect {
	m.number++
	m.alarm(commitTimer, now, m.timers().Commit)
	return m.send(KindRequest, to, m.say(m.self, m.number), out)
}

// giveUpWaiting begins a recovery, because no request of this site is under way.
func (m *Machine) giveUpWaiting(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.cfg.Recovery == Baseline {
		return m.consult(now.Time, out)
	}
	return m.timeoutCommit(now, out)
}

// receiveREQ is ReceiveREQ, lines 15–26. Rule (vi): a request is dropped if it, or a later one of its origin, was here
// before. So no request walks in a circle.
//
// In the figure, "last = NIL" (line 16) shows that a site is the root. A recovery sets last (lines 64, 86, 88) at sites
// that stay the end of the queue or hold the token. So here next = NIL shows the root: without a failure, both are NIL
// at the same time.
func (m *Machine) receiveREQ(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	sj := b.origin
	if sj == nobody || sj == m.self || b.number <= m.heard[sj] {
		out = policy.AppendTell(out, NoteRequestAgain, m.cfg.Roster[b.from], nil)
		if m.cfg.Rejoins && sj != nobody && sj != m.self && b.number < m.heard[sj] {
			return m.send(KindBehind, sj, m.say(sj, m.heard[sj]), out)
		}
		return out
	}
	m.heard[sj] = b.number
	to := m.last
	switch {
	case m.idle():
		m.last = sj // line 26
		return m.sendTOKEN(now, link{sj, b.number}, out)
	case (m.req || m.passing) && (m.next.rank == nobody || m.next.rank == sj):
		m.last, m.next = sj, link{sj, b.number} // lines 18, 26
		return m.sendCommit(out)
	case to == sj:
		// Sj asks again, and is or was behind this site: its request goes along the queue.
		to = m.next.rank
	}
	m.last = sj // line 26
	if to == nobody {
		return policy.AppendTell(out, NoteNoRoot, m.cfg.Roster[sj], nil)
	}
	b.from = m.self
	return m.send(KindRequest, to, *b, out) // line 25
}

// receiveBehind handles the answer to a request whose number is too low: this site has started again with its clock set
// back, and the sender, which has heard earlier requests, takes the new one for an old one. From now on this site's
// numbers continue from the earlier ones. If no site has answered its request, it sends the request again.
func (m *Machine) receiveBehind(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	if b.origin != m.self || b.number <= m.number {
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil)
	}
	m.number = b.number
	if m.timer != commitTimer || m.pos != none {
		return out
	}
	return m.request(now.Time, b.from, out)
}
