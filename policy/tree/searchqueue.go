package tree

import "github.com/wanderd/wanderd/policy"

// election is what a site knows of the searches for the queue: "our algorithm uses the Lamport logical clock" (section
// 4.1).
type election struct {
	// clock is the site's logical clock; stamp is its value in this site's own search.
	clock, stamp uint64
	// leader is the current winner; leaderStamp is the stamp of its search, until this search ends.
	leader      rank
	leaderStamp uint64
	until       policy.Time
}

// wins: "Si does so by comparing logical clock timestamps of the SEARCH_QUEUE messages it received. If they are
// concurrent, i.e. they have the same counter value, the winner is the site with the greatest identifier." Of different
// values the smaller one wins: the search that began first ends first.
func (e *election) wins(site rank, stamp uint64, now policy.Time) bool {
	switch {
	case e.leader == nobody || now >= e.until || e.leader == site:
		return true
	case stamp != e.leaderStamp:
		return stamp < e.leaderStamp
	}
	return site > e.leader
}

// timeoutCommit is TimeoutCommit, lines 70–76: a waiting site has no predecessor. A site with a position searches by
// its position, because SEARCH_QUEUE would find sites behind it. A site that knows of a search in progress asks the
// winner, like a candidate that has lost.
func (m *Machine) timeoutCommit(now policy.Instant, out []policy.Effect) []policy.Effect {
	e := &m.election
	switch {
	case m.pos != none:
		return m.searchPos(now.Time, out)
	case e.leader != nobody && e.leader != m.self && now.Time < e.until:
		leader := e.leader
		e.leader = nobody
		return m.request(now.Time, leader, out)
	}
	return m.searchQueue(now, out)
}

// searchQueue is lines 71–76: "every site Sj that has a position in the next queue answers to Si with a POSITION
// message".
func (m *Machine) searchQueue(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.newPred = newPred{id: nobody, pos: none, next: nobody} // lines 71–73
	m.candidate = true                                       // line 74
	e := &m.election
	e.clock = min(e.clock+1, maxClock)
	e.stamp = e.clock
	e.leader, e.leaderStamp, e.until = m.self, e.stamp, now.Time.Add(m.timers().Reconnection)
	m.awaitPositions(now.Time)                                                                  // line 76
	return m.diffuse(KindSearchQueue, policy.AppendTell(out, NoteSearchQueue, m.cfg.Self, nil)) // line 75
}

// receiveSEARCHQUEUE is ReceiveSEARCH_QUEUE, lines 77–88. A site with a position answers every searcher, not only the
// winner of the election (line 78). A candidate may learn of the winner late, or never if the winner has crashed. It
// must not mistake the silence for the loss of the token.
func (m *Machine) receiveSEARCHQUEUE(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	sj := b.from
	m.searches.add(sj, none, now.Time.Add(m.timers().Reconnection))
	wins := m.election.wins(sj, b.clock, now.Time)
	// Line 79; a candidate that loses sends a request instead.
	if m.pos != none || m.knowsNewer(b) && !(wins && m.candidate) {
		out = m.answer(KindPosition, sj, out) // line 80
	}
	if !wins { // line 78
		return out
	}
	m.election.leader, m.election.leaderStamp = sj, b.clock
	m.election.until = now.Time.Add(m.timers().Reconnection)
	if m.candidate { // lines 81–84
		m.candidate = false
		out = policy.AppendTell(out, NoteLostElection, m.cfg.Roster[sj], nil)
		out = m.request(now.Time, sj, out)
	}
	// "Sites that either do not wait for the token or waiting sites that know their position set their last pointer to
	// Sj since Sj is considered by them as the last site which asked for the CS; sites waiting for the token without a
	// position in the next queue set their last pointer to the same value as their next pointer."
	if !m.req || m.pos != none { // line 85
		m.last = sj // line 86
	} else {
		m.last = m.next.rank // line 88
	}
	return out
}
