// Package misra is Misra's detection of termination on a token that survives crashes: "the token, which circulates
// among all nodes, has the variable passive_count that sums up the number of nodes that the token crossed which is in
// passive state upon reception of the token. A node that holds the token sends it to its successor only when becoming
// passive. If the latter was already passive when it receives the token, it adds one to passive_count; otherwise it
// restarts passive_count to 1. The termination of the application is detected when all the nodes are passive after one
// round of the token. […] A faulty node can be viewed as a passive one" (k-copies, section 3.2).
//
//	detect.go  the token, and UpdateToken
//	work.go    the application whose end is detected
//
// "Already passive" means that the member is white: it has not been active since the token was here. A member that is
// passive when the token comes, but was active before, may have sent work that the token never meets. Mais valem
// exchanges the colours (white restarts the count, black counts), and does not limit the count to N: with more crashes
// than members left in the round, the count jumps over N, and the termination is never detected.
//
// It needs FIFO links, and a detector that reports a crash only after no message of the crashed member is in flight.
package misra

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/application"
	"github.com/wanderd/wanderd/wire"
)

const (
	// NoteActive: this member has work.
	NoteActive policy.Note = iota + 64
	// NotePassive: this member has no work left.
	NotePassive
	// NoteTerminated: this member has detected that all members are passive.
	NoteTerminated
)

// Descriptor describes the detection and its application.
func Descriptor() policy.Descriptor {
	f := application.Descriptor(19, "misra", policy.Notes{
		{Note: NoteActive, Name: "active", Level: policy.Debug, Text: "has work"},
		{Note: NotePassive, Name: "passive", Level: policy.Debug, Text: "has no work"},
		{Note: NoteTerminated, Name: "terminated", Level: policy.Info, Text: "the application has terminated"},
	})
	f.Kinds, f.WellFormed = append(f.Kinds, policy.KindInfo{Kind: KindWork, Name: "Work"}), wellFormed
	return f
}

// Config configures one member.
type Config struct {
	// Budget is for how many more hops this member's first work may lead to more work; if it is below 0, the member
	// begins passive.
	Budget int
	// Work is the average time that a piece of work takes; the times are uniform, up to twice that.
	Work time.Duration
	// Entropy draws how long work takes, and whether it leads to more.
	Entropy policy.Entropy
}

// Machine is one member.
type Machine struct {
	application.Member
	cfg Config
	// passiveCount is <TOKEN>.passive_count, while the token is here.
	passiveCount int
	// active is true while this member has work, which ends at until, and may lead to more work for budget more hops.
	active bool
	until  policy.Time
	budget int
	// black is true if this member has been active since the token was here.
	black      bool
	terminated bool
}

// New returns a member of a ring.
func New(ring kcopies.Config, cfg Config) *Machine {
	m := &Machine{cfg: cfg}
	m.Begin(ring)
	return m
}

// Active reports whether this member has work.
func (m *Machine) Active() bool { return m.active }

// Step handles one event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Started:
		if m.cfg.Budget >= 0 {
			out = m.becomeActive(now.Time, m.cfg.Budget, out)
		}
		return m.hear(ev, out)
	case policy.Received:
		if ev.Msg.Kind == KindWork {
			return m.becomeActive(now.Time, budgetOf(&ev.Msg.Load), out)
		}
		return m.hear(ev, out)
	case policy.PeersChanged:
		return m.hear(ev, out)
	case policy.Woke:
		if m.active && now.Time >= m.until {
			return m.becomePassive(out)
		}
	case policy.Saved, policy.Finished, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Renew, policy.Leave:
	}
	return out
}

// NextWake returns when the work is done.
func (m *Machine) NextWake() (at policy.Time, ok bool) { return m.until, m.active }

// Expects reports whether msg could change anything now.
func (m *Machine) Expects(msg *wire.Message) bool {
	return msg.Kind == KindWork || m.Copies.Expects(msg)
}

// Status describes this member.
func (m *Machine) Status(policy.Time) policy.Status {
	s := policy.Status{Phase: "passive", Why: "nothing runs under this token", NextRun: policy.Never}
	switch {
	case m.active:
		s.Phase = "active"
	case m.terminated:
		s.Phase = "terminated"
	}
	m.Copies.Tell(&s)
	return s
}

// Facts appends nothing.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }

// String returns one line for traces.
func (m *Machine) String() string {
	colour, does := "white", "passive"
	if m.black {
		colour = "black"
	}
	if m.active {
		does = "active"
	}
	return fmt.Sprintf("%v, %s, %s", &m.Copies, colour, does)
}
