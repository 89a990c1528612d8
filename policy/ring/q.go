package ring

import "github.com/wanderd/wanderd/policy"

// Protocol Q (section 3). "The resource token T contains a counter that is increased when a new request message is
// received, while it is decreased when a request is served. The token 'searches' processors with pending requests while
// the counter is positive."

// qAsks is rule 1: "If p has not T then it sends a request message to the next processor."
func (m *Machine) qAsks(out []policy.Effect) []policy.Effect {
	return m.send(request{tour: m.tour}, out)
}

// qHears is rule 2: "When p receives a request message then: If p has T then it increases the counter and passes T to
// the next processor. If p has not T then the request message is passed to the next processor." If p is in its critical
// section, it passes T at the end. A request that was made before the last recounting tour came to its member is not
// counted, because the tour has served it.
func (m *Machine) qHears(r request, out []policy.Effect) []policy.Effect {
	if !m.holds() {
		return m.send(r, out)
	}
	if r.tour == m.T.tour {
		m.T.counter++
		m.T.idle = 0
	}
	return out
}

// qMeets is rule 3: "If p has a pending request then it enters the critical section in which the token counter is
// decreased by 1; at the exit of the critical section p passes T to the next processor if the token counter is greater
// than 0. If p has not a pending request then T is passed to the next processor in the ring." On a recounting tour no
// pending request has been counted yet. If the token has visited all members and met no waiting one, it has counted a
// request of a member that has left since: then the token rests.
func (m *Machine) qMeets() {
	switch {
	case m.T.left > 0:
		m.T.left--
	case m.pending && m.T.counter > 0:
		m.T.counter--
	}
	m.T.idle++
	if m.pending {
		m.T.idle = 0
	}
	if int(m.T.idle) > len(m.cfg.Members) {
		m.T.counter = 0
	}
	m.tour = m.T.tour
}
