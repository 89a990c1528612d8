package ring

import "github.com/wanderd/wanderd/policy"

// Martin's protocol. A request goes against the direction of the token, from member to member, until it meets the token, and the token comes
// back the way that the request went. A waiting member does not forward the requests of others: at most one request is on a link at a
// time, and there are as many request messages as moves of the token.
//
// A correction. After a crash the token can come to a member that has asked, on its recounting tour or from a new neighbour, while its request
// is still on its way: that request and the token pass each other on a link, and both can go round for ever, for nobody. So a move of the token
// over a link answers all requests that were made before it on that link: a request says the greatest number of the token that its member knows, and
// whoever has passed on one with a greater number does not hear it.

// martinAsks asks prev, unless that has been done for next already.
func (m *Machine) martinAsks(out []policy.Effect) []policy.Effect {
	if m.asked {
		return out
	}
	m.asked = true
	return m.send(request{count: m.copies.Count(), back: true}, out)
}

// martinHears: next, or somebody beyond it, waits for the token.
func (m *Machine) martinHears(r request, out []policy.Effect) []policy.Effect {
	if r.count < m.gave {
		return out
	}
	m.nextWants = true
	if m.holds() {
		return out
	}
	return m.martinAsks(out)
}

// martinMeets: the token is the answer of prev.
func (m *Machine) martinMeets() {
	m.asked = false
	if m.T.left > 0 {
		m.T.left--
	}
}
