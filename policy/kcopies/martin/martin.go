// Package martin is Martin's mutual exclusion on a token that survives crashes, with requests that also survive
// crashes: "requests for the token move in one direction while the token moves in the opposite direction. The holder of
// the token keeps it as long as it does not receive a request. […] each node request can be seen as a single object
// like the token ('request-object'). […] Requests are in this way uniquely identified by S_q" (k-copies, section 3.1).
//
// A request goes to the predecessor, with its copies to the k members before that one, until it meets the token or a
// member that has asked. So at most one request is on a link, each is answered by one hop of the token over that link,
// and request messages = token moves. While no member asks there is no message.
//
//	request.go  the request-objects
//	token.go    the token
//
// These rules are not stated in the paper. Each was found by a run in which a member starved:
//
//   - A member that has asked keeps the requests of others: the token will come by.
//   - A request ends where it meets the token. It counts as returned to its member, so a later request of the same
//     member has a greater count than any copy of it. If the member where it ended crashes, such a copy is used, and
//     the token makes one needless hop.
//   - A request that a later one of the same member has overtaken still counts as a request of the member that has sent
//     it on.
//   - The copies keep a request, but not a member's knowledge that it must pass the token on. So if the member that was
//     asked crashes, the next one is asked.
package martin

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/application"
	"github.com/wanderd/wanderd/wire"
)

const (
	// NoteAsked: this member has sent the request of Peer on.
	NoteAsked policy.Note = iota + 64
	// NoteKept: this member keeps the request of Peer, because the token comes by or is here.
	NoteKept
)

// Descriptor describes Martin's ring.
func Descriptor() policy.Descriptor {
	return application.Descriptor(17, "martin", policy.Notes{
		{Note: NoteAsked, Name: "asked", Level: policy.Debug, Text: "sent a request on"},
		{Note: NoteKept, Name: "kept", Level: policy.Debug, Text: "keeping a request until the token comes"},
	})
}

// Machine is one member.
type Machine struct {
	application.Excluded
	requests application.Objects
	// asked is true if a request has left for the predecessor since the token was here; owed is true if the successor
	// has asked since then.
	asked, owed bool
	// askedSite is the site to which that request went.
	askedSite kcopies.Site
}

// New returns a member of a ring on which the first site holds the token at the start.
func New(ring kcopies.Config) *Machine {
	m := &Machine{}
	m.Begin(ring)
	ring.Backwards = true
	m.requests = application.NewObjects(ring)
	return m
}

// Step handles one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Started:
		return m.hear(now.Time, ev, out)
	case policy.Received:
		return m.onMessage(now.Time, ev, out)
	case policy.PeersChanged:
		return m.onPeers(now.Time, ev, out)
	case policy.Wanted:
		m.Wanted = true
		return m.want(now.Time, out)
	case policy.Unwanted:
		m.Wanted = false
	case policy.Finished:
		return m.onFinished(now.Time, out)
	case policy.Saved, policy.Soaks, policy.Suspended, policy.Directed, policy.Renew, policy.Leave, policy.Woke:
	}
	return out
}

func (m *Machine) onMessage(now policy.Time, ev *policy.Event, out []policy.Effect) []policy.Effect {
	msg := &ev.Msg
	if q, ok := m.requestOf(msg); ok {
		if m.isOld(q, msg) {
			return m.onRequest(now, m.Ring.Self, out)
		}
		var end kcopies.Outcome
		out = m.requests[q].Receive(msg, &end, out)
		return m.endedRequest(now, q, &end, out)
	}
	return m.hear(now, ev, out)
}

// onPeers handles crashes: first for the token, so that a request finds the token where it then is.
func (m *Machine) onPeers(now policy.Time, ev *policy.Event, out []policy.Effect) []policy.Effect {
	out = m.hear(now, ev, out)
	for q := range m.requests {
		var end kcopies.Outcome
		out = m.requests[q].Suspect(ev.Peers, &end, out)
		out = m.endedRequest(now, kcopies.Site(q), &end, out)
	}
	return m.askAgain(out)
}

// requestOf returns the site whose request-object a message carries; ok is false for the token.
func (m *Machine) requestOf(msg *wire.Message) (q kcopies.Site, ok bool) {
	if msg.Token.ID == m.Ring.ID {
		return 0, false
	}
	return m.requests.Of(msg)
}

// Expects reports whether msg could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	if q, ok := m.requestOf(msg); ok {
		return m.isOld(q, msg) || m.requests[q].Expects(msg)
	}
	return m.Copies.Expects(msg)
}

// isOld reports whether msg is the request of S_q for this member, and not a copy, but a later request, or a copy of
// one, has already been here. The member that has sent it on waits for the token nevertheless.
func (m *Machine) isOld(q kcopies.Site, msg *wire.Message) bool {
	st, _ := kcopies.Fields(&msg.Load)
	return st == m.Ring.Self && msg.Token.Seq <= m.requests[q].Count()
}

// String returns one line for traces.
func (m *Machine) String() string {
	return fmt.Sprintf("%v, wanted %v, running %v, asked %v, owed %v", &m.Copies, m.Wanted, m.Running, m.asked, m.owed)
}
