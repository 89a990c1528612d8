package tree

import "github.com/wanderd/wanderd/policy"

// newPred is "a tuple that holds the identifier, position, and the following node of the probable new predecessor of
// site Si in the next queue after failure recovery" (section 4.1).
type newPred struct {
	id   rank
	pos  position
	next rank
}

// receivePOSITION is ReceivePOSITION, lines 65–69. Of equal positions the last one counts: each holder that hears of
// the search takes the position before it ([Machine.lead]), and the token of the first one that did has long gone on.
func (m *Machine) receivePOSITION(now policy.Instant, b *body, out []policy.Effect) []policy.Effect {
	m.measure(now.Time, b.from)
	m.found(now.Time)
	if m.timer != reconnectionTimer {
		return policy.AppendTell(out, NoteLate, m.cfg.Roster[b.from], nil)
	}
	if !m.candidate && !m.precedes(b.pos, b.from) {
		return out
	}
	if m.newPred.pos <= b.pos { // line 66
		m.newPred.id, m.newPred.pos, m.newPred.next = b.from, b.pos, b.next // lines 67–69
	}
	return out
}

// timeoutReconnection is TimeoutReconnection, lines 46–56. "When this time elapses, the site with the greatest
// position, NewPred.id, will become Si's closest predecessor" (section 4.1).
func (m *Machine) timeoutReconnection(now policy.Instant, out []policy.Effect) []policy.Effect {
	searchedQueue := m.candidate
	m.candidate = false // line 56
	switch n := &m.newPred; {
	case n.id == nobody: // line 47
		return m.mayRegenerate(now, out)
	case !searchedQueue || n.next == m.self:
		// "In order to reconnect to this site, Si sends a CONNECTION message to it (line 52)."
		m.alarm(commitTimer, now.Time, m.timers().Commit) // line 55
		return m.connect(n.id, out)
	case n.next == nobody: // "If NewPred.id has no next, Si directly resends a token request to it (line 54)."
		return m.request(now.Time, n.id, out)
	}
	// Rule (iv): "after SEARCH_QUEUE ask the found site's next before displacing it: it may only lack its position".
	m.liveness.round++
	m.alarm(displaceTimer, now.Time, m.timers().Liveness)
	return m.ask(m.newPred.next, out)
}

// nextOfNewPredAnswers decides by the state of newPred's next: if it waits, this site queues behind it; otherwise this
// site displaces it.
func (m *Machine) nextOfNewPredAnswers(now policy.Time, b *body, out []policy.Effect) []policy.Effect {
	if b.flags&flagInQueue == 0 {
		return m.displace(now, out)
	}
	return m.request(now, b.from, out)
}

// displace: "Si concludes that NewPred.id's next has failed. Si then sends a CONNECTION message to NewPred.id (line 52)
// in order to force it to reconnect itself to Si" (section 4.1).
func (m *Machine) displace(now policy.Time, out []policy.Effect) []policy.Effect {
	m.alarm(commitTimer, now, m.timers().Commit) // line 55
	return m.connect(m.newPred.id, out)
}
