package ring

import "github.com/wanderd/wanderd/policy"

// Martin's protocol. A request goes against the direction of the token, from member to member, until it meets the
// token. The token comes back the same way. A waiting member does not forward the requests of others: at most one
// request is on a link at a time, and there are as many request messages as moves of the token.
//
// A correction. After a crash, a recounting tour or a new neighbour can bring the token to a member whose request is
// still under way. The request and the token pass each other on a link, and both can go round for ever while no member
// waits. So a move of the token over a link answers all earlier requests on the same link: a request carries the
// greatest token number that its member knows, and a member that has passed the token on with a greater number ignores
// the request.

// martinAsks asks prev for the token, unless this member has asked already.
func (m *Machine) martinAsks(out []policy.Effect) []policy.Effect {
	if m.asked {
		return out
	}
	m.asked = true
	return m.send(request{count: m.copies.Count(), back: true}, out)
}

// martinHears handles a request from next: that member, or one beyond it, waits for the token.
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

// martinMeets records that the token is the answer of prev.
func (m *Machine) martinMeets() {
	m.asked = false
	if m.T.left > 0 {
		m.T.left--
	}
}
