package martin

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// want asks for the token, unless it is here or has been asked for: a member that waits may also wait for what it has
// asked for another.
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

// nextRound is the count of a request that begins now. Every hop counts one, so the last one has not come further than
// a whole round; the next begins as if it had.
func (m *Machine) nextRound(count wire.Seq) wire.Seq {
	n := wire.Seq(len(m.Ring.Ring))
	return (count/n + 1) * n
}

// ask sends the request of S_q on, with its copies: to the predecessor, or the first before it that is not known to
// have crashed.
func (m *Machine) ask(q kcopies.Site, out []policy.Effect) []policy.Effect {
	request := &m.requests[q]
	m.asked, m.askedSite = true, request.Config().Successor()
	for d := 2; d < len(m.Ring.Ring) && request.Suspects(m.askedSite); d++ {
		m.askedSite = request.Config().After(m.Ring.Self, d)
	}
	out = policy.AppendTell(out, NoteAsked, m.Ring.Ring[q], nil)
	return request.SafeSendTokenTo(m.askedSite, &kcopies.Data{}, out)
}

// askAgain asks the next member, if the one that was asked has crashed, and with it what it knew: that it owes the
// token.
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

// endedRequest does what a call for the request of S_q led to.
func (m *Machine) endedRequest(now policy.Time, q kcopies.Site, end *kcopies.Outcome,
	out []policy.Effect,
) []policy.Effect {
	came, out := m.requests[q].Settle(end, out)
	if came == 0 {
		return out
	}
	return m.onRequest(now, q, out)
}

// onRequest takes the request of S_q, which the successor has sent on: the holder passes the token on, now or when its
// run is over; a member that has asked keeps it, "at most one request per link"; others send it on. A member whose own
// request has come home asks for itself.
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
