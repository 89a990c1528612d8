package ring

import "github.com/wanderd/wanderd/policy"

// Protocol D (section 4). "The request message is stopped when it is recognized that the processor issuing the request
// will receive the token anyway." The token is active, "searching for a request in the ring", or makes a check-tour "to
// check if it is aware of all the requests".
//
// A correction. As printed, a request message can outlive its request, because the token serves the member first. The
// message then wakes the resting token, which circles for ever while no member waits (found by exhaustive search for n
// = 3). So an active token, too, counts its moves: after n−1 moves without meeting a waiting member it rests. By then
// it has visited all other members. A request that was made behind the token has its own message, which follows the
// token.

// dAsks is rule 1: "If M_p = 0 then it sends a request message to the next processor and sets M_p = 1. If M_p = 1 then
// no message is sent."
func (m *Machine) dAsks(out []policy.Effect) []policy.Effect {
	if m.mp {
		return out
	}
	m.mp = true
	return m.send(request{tour: m.tour}, out)
}

// dHears is rules 2 and 3: "If p receives a request message while it has T then M_p is set to 0, the token state to
// active and T is passed to the next processor." "If p receives a request message while it has not T then: If M_p = 0
// then the request message is passed to the next processor in the ring and M_p is set to 1. If M_p = 1 then nothing is
// done (the request message is stopped)." If p is in its critical section, it passes T at the end.
func (m *Machine) dHears(out []policy.Effect) []policy.Effect {
	if m.holds() {
		m.mp = false
		m.T.active = true
		m.T.counter = m.others()
		return out
	}
	return m.dAsks(out)
}

// dMeets is rules 4 and 5. Active: "If p has a pending request then it enters the critical section in which it sets M_p
// to 0, the token counter to n−1 and the token state to check. At the end of the critical section T is passed to the
// next processor. If p has not a pending request then M_p is set to 0 and T is passed to the next processor." Check:
// "M_p is set to 0 and the token counter is decremented by 1", in the critical section or not, and "T is passed to the
// next processor if the token counter is bigger than 0".
func (m *Machine) dMeets() {
	m.mp = false
	switch {
	case m.T.active && m.pending:
		m.T.active = false
		m.T.counter = m.others()
	case m.T.counter > 0:
		m.T.counter--
	}
}

// others is how many moves bring the token to all other members.
func (m *Machine) others() uint16 { return uint16(m.n - 1) }
