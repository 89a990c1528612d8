// Package lelann is Le Lann's mutual exclusion on a token that survives crashes: "a single token, which circulates over all sites.
// Whenever a process receives the token, if it wants to access the shared resource, it does so; otherwise it sends the token to its
// successor. Upon releasing the access to the shared resource, a site also sends the token to its successor. […] each process just needs
// to call the SafeSendToken and SafeReceiveToken functions" (k-copies, section 3.1).
//
// The token never rests, so it needs a network whose messages take time.
package lelann

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Family is Le Lann's ring.
func Family() policy.Family {
	return policy.Family{
		ID: 16, Name: "lelann", Version: 1, WellFormed: kcopies.WellFormed,
		Kinds: kcopies.Kinds(), Notes: kcopies.Notes(),
	}
}

// Machine is one member.
type Machine struct {
	ring            kcopies.Config
	token           kcopies.Machine
	wanted, running bool
	hasRun          bool
	lastRun         policy.Time
}

// New returns a member of a ring on which the first site holds the token at the start.
func New(ring kcopies.Config, first kcopies.Site) *Machine {
	m := &Machine{ring: ring}
	m.token = kcopies.New(&m.ring, first, kcopies.Data{})
	return m
}

// KCopies returns this member's part of the token.
func (m *Machine) KCopies() *kcopies.Machine { return &m.token }

// Step handles one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	var end kcopies.Outcome
	switch ev.Kind {
	case policy.Started:
		if m.token.Token() == kcopies.Real {
			return m.onToken(now.Time, policy.CauseMade, wire.MemberID{}, out)
		}
	case policy.Received:
		out = m.token.Receive(&ev.Msg, &end, out)
		return m.ended(now.Time, &end, ev.Msg.From, out)
	case policy.PeersChanged:
		out = m.token.Suspect(ev.Peers, &end, out)
		return m.ended(now.Time, &end, wire.MemberID{}, out)
	case policy.Wanted:
		m.wanted = true
	case policy.Unwanted:
		m.wanted = false
	case policy.Finished:
		m.running = false
		return m.pass(out)
	case policy.Saved, policy.Suspended, policy.Ordered, policy.Leave, policy.Woke:
	}
	return out
}

// ended does what a call of k-copies led to. The detector never errs, so this member may regenerate the token at once.
func (m *Machine) ended(now policy.Time, end *kcopies.Outcome, from wire.MemberID, out []policy.Effect) []policy.Effect {
	came, out := m.token.Settle(end, out)
	if came == 0 {
		return out
	}
	return m.onToken(now, came, from, out)
}

// onToken is "if it wants to access the shared resource, it does so; otherwise it sends the token to its successor".
func (m *Machine) onToken(now policy.Time, how policy.Cause, from wire.MemberID, out []policy.Effect) []policy.Effect {
	ref := m.token.Ref()
	out = policy.AppendTook(out, how, from, &ref)
	if !m.wanted {
		return m.pass(out)
	}
	m.wanted, m.running = false, true
	m.hasRun, m.lastRun = true, now
	return policy.AppendRun(out, &ref, policy.Never)
}

func (m *Machine) pass(out []policy.Effect) []policy.Effect {
	ref := m.token.Ref()
	out = policy.AppendGave(out, policy.CausePassed, m.ring.Ring[m.ring.Successor()], &ref)
	return m.token.SafeSendToken(&kcopies.Data{}, out)
}

// NextWake is never: the token comes by itself.
func (m *Machine) NextWake() (at policy.Time, ok bool) { return 0, false }

// Expects reports whether msg could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool { return m.token.Expects(msg) }

// Status describes this member.
func (m *Machine) Status(policy.Time) policy.Status {
	s := policy.Status{Phase: m.token.Token().String(), Why: "nobody waits", HasRun: m.hasRun, LastRun: m.lastRun, NextRun: policy.Never}
	if m.wanted {
		s.Why, s.NextRun = "the token is elsewhere", 0
	}
	if m.running {
		s.Why = "running"
	}
	m.token.Tell(&s)
	return s
}

// Facts appends nothing.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }

// String returns one line for traces.
func (m *Machine) String() string { return m.token.String() }
