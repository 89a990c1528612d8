// Package lelann is Le Lann's mutual exclusion on a token that survives crashes: "a single token, which circulates over
// all sites. Whenever a process receives the token, if it wants to access the shared resource, it does so; otherwise it
// sends the token to its successor. Upon releasing the access to the shared resource, a site also sends the token to
// its successor. […] each process just needs to call the SafeSendToken and SafeReceiveToken functions" (k-copies,
// section 3.1).
//
// The token never rests, so it needs a network whose messages take time.
package lelann

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/application"
	"github.com/wanderd/wanderd/wire"
)

// Descriptor describes Le Lann's ring.
func Descriptor() policy.Descriptor { return application.Descriptor(16, "lelann", nil) }

// Machine is one member.
type Machine struct{ application.Excluded }

// New returns a member of a ring on which the first site holds the token at the start.
func New(ring kcopies.Config) *Machine {
	m := &Machine{}
	m.Begin(ring)
	return m
}

// Step handles one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Started, policy.Received, policy.PeersChanged:
		var end kcopies.Outcome
		came, out := m.Hear(ev, &end, out)
		switch {
		case came == 0:
			return out
		case m.Wanted: // "if it wants to access the shared resource, it does so"
			return m.Enter(now.Time, out)
		}
		return m.Pass(&kcopies.Data{}, out) // "otherwise it sends the token to its successor"
	case policy.Wanted:
		m.Wanted = true
	case policy.Unwanted:
		m.Wanted = false
	case policy.Finished:
		m.Running = false
		return m.Pass(&kcopies.Data{}, out)
	case policy.Saved, policy.Soaks, policy.Suspended, policy.Directed, policy.Renew, policy.Leave, policy.Woke:
	}
	return out
}

// Expects reports whether msg could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool { return m.Copies.Expects(msg) }

// String returns one line for traces.
func (m *Machine) String() string { return m.Copies.String() }
