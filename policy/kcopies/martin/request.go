package martin

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// want asks for the token, unless it is here or this member has asked for it: a waiting member may also wait for the
// token that it has asked for on behalf of another.
func (m *Machine) want(now policy.Time, out []policy.Effect) []policy.Effect {
	switch {
	case m.Running || m.asked:
		return out
	case m.Copies.Token() == kcopies.Real:
		return m.Enter(now, out)
	}
	return m.askForSelf(out)
}

func (m *Machine) askForSelf(out []policy.Effect) []policy.Effect {
	own := &m.requests[m.Ring.Self]
	own.Issue(m.nextRound(own.Count()))
	return m.ask(m.Ring.Self, out)
}

// nextRound is the count of a request that begins now. Every hop adds one to the count, so the last request has come no
// further than a whole round; the next begins as if it had come that far.
func (m *Machine) nextRound(count wire.Seq) wire.Seq {
	n := wire.Seq(len(m.Ring.Ring))
	return (count/n + 1) * n
}

// ask sends the request of S_q on, with its copies: to the predecessor, or to the first member before it that is not
// known to have crashed.
func (m *Machine) ask(q kcopies.Site, out []policy.Effect) []policy.Effect {
	request := &m.requests[q]
	m.asked, m.askedSite = true, request.Config().Successor()
	for d := 2; d < len(m.Ring.Ring) && request.Suspects(m.askedSite); d++ {
		m.askedSite = request.Config().After(m.Ring.Self, d)
	}
	out = policy.AppendTell(out, NoteAsked, m.Ring.Ring[q], nil)
	return request.SafeSendTokenTo(m.askedSite, &kcopies.Data{}, out)
}

// askAgain asks the next member if the one that was asked has crashed: with that member the knowledge is lost that it
// owes the token.
func (m *Machine) askAgain(out []policy.Effect) []policy.Effect {
	if !m.asked || !m.Copies.Suspects(m.askedSite) {
		return out
	}
	m.asked = false
	if m.Wanted || m.owed {
		return m.askForSelf(out)
	}
	return out
}

// endedRequest handles the result of a call for the request of S_q.
func (m *Machine) endedRequest(now policy.Time, q kcopies.Site, end *kcopies.Outcome,
	out []policy.Effect,
) []policy.Effect {
	came, out := m.requests[q].Settle(end, out)
	if came == 0 {
		return out
	}
	return m.onRequest(now, q, out)
}

// onRequest takes the request of S_q, which the successor has sent on. The holder passes the token on, now or when its
// run is over. A member that has asked keeps the request, "at most one request per link"; other members send it on. A
// member whose own request has returned to it asks for itself.
func (m *Machine) onRequest(now policy.Time, q kcopies.Site, out []policy.Effect) []policy.Effect {
	m.owed = true
	switch {
	case m.Copies.Token() == kcopies.Real && !m.Running:
		return m.pass(now, out)
	case m.Running || m.asked:
		return policy.AppendTell(out, NoteKept, m.Ring.Ring[q], nil)
	case q == m.Ring.Self:
		return m.askForSelf(out)
	}
	return m.ask(q, out)
}
