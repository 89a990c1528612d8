package ring

import "github.com/wanderd/wanderd/policy"

// Martin's protocol. A request goes against the direction of the token, from member to member, until it meets the token, and the token comes
// back the way that the request went. A waiting member does not forward the requests of others: at most one request is on a link at a
// time, and there are as many request messages as moves of the token.

// martinAsks asks prev, unless that has been done for next already.
func (m *Machine) martinAsks(out []policy.Effect) []policy.Effect {
	if m.asked {
		return out
	}
	m.asked = true
	return m.send(request{tour: m.tour, back: true}, out)
}

// martinHears: next, or somebody beyond it, waits for the token.
func (m *Machine) martinHears(out []policy.Effect) []policy.Effect {
	m.nextWants = true
	if m.holds() {
		return out
	}
	return m.martinAsks(out)
}

// martinMeets: the token is the answer of prev.
func (m *Machine) martinMeets() { m.asked = false }
