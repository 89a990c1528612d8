// Package application has the common parts of the papers' applications of k-copies. No gate of a host is one of them.
package application

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Descriptor is an application with a number and a name. It sends TOKEN messages, and has notes besides those of
// k-copies.
func Descriptor(id uint8, name string, own policy.Notes) policy.Descriptor {
	return policy.Descriptor{
		ID: id, Name: name, Version: 1, WellFormed: kcopies.WellFormed, Kinds: kcopies.Kinds(),
		Notes: slices.Concat(kcopies.Notes(), own),
	}
}

// Member is what a member of any application has: its part of the ring's token. Its detector never errs, so it may
// regenerate the token at once.
type Member struct {
	Ring   kcopies.Config
	Copies kcopies.Machine
}

// Begin is Initialisation: the first site has the token.
func (m *Member) Begin(ring kcopies.Config) {
	m.Ring = ring
	m.Copies = kcopies.New(&m.Ring, 0, kcopies.Data{})
}

// KCopies returns this member's part of the token.
func (m *Member) KCopies() *kcopies.Machine { return &m.Copies }

// Hear gives the token the start, a message, or the detector's view. It returns how the token has come here because of
// that; zero if it has not.
func (m *Member) Hear(ev *policy.Event, end *kcopies.Outcome, out []policy.Effect) (came policy.Cause,
	effects []policy.Effect,
) {
	var from wire.MemberID
	switch {
	case ev.Kind == policy.Started && m.Copies.Token() == kcopies.Real:
		came = policy.CauseMade
	case ev.Kind == policy.Received:
		from = ev.Msg.From
		came, out = m.Copies.Settle(end, m.Copies.Receive(&ev.Msg, end, out))
	case ev.Kind == policy.PeersChanged:
		came, out = m.Copies.Settle(end, m.Copies.Suspect(ev.Peers, end, out))
	}
	if came == 0 {
		return 0, out
	}
	ref := m.Copies.Ref()
	return came, policy.AppendTook(out, came, from, &ref)
}

// Pass passes the token on to the successor.
func (m *Member) Pass(data *kcopies.Data, out []policy.Effect) []policy.Effect {
	ref := m.Copies.Ref()
	out = policy.AppendGave(out, policy.CausePassed, m.Ring.Ring[m.Ring.Successor()], &ref)
	return m.Copies.SafeSendToken(data, out)
}

// Excluded is a member that enters a critical section under the token when a caller there waits.
type Excluded struct {
	Member
	Wanted, Running bool
	hasRun          bool
	lastRun         policy.Time
}

// Enter begins the critical section.
func (m *Excluded) Enter(now policy.Time, out []policy.Effect) []policy.Effect {
	m.Wanted, m.Running = false, true
	m.hasRun, m.lastRun = true, now
	ref := m.Copies.Ref()
	return policy.AppendRun(out, &ref, policy.Never)
}

// NextWake returns Never: everything happens by messages.
func (m *Excluded) NextWake() (at policy.Time, ok bool) { return 0, false }

// Status describes this member.
func (m *Excluded) Status(policy.Time) policy.Status {
	s := policy.Status{
		Phase: m.Copies.Token().String(), Why: "nobody waits", HasRun: m.hasRun, LastRun: m.lastRun,
		NextRun: policy.Never,
	}
	if m.Wanted {
		s.Why, s.NextRun = "the token is elsewhere", 0
	}
	if m.Running {
		s.Why = "running"
	}
	m.Copies.Tell(&s)
	return s
}

// Facts appends nothing.
func (m *Excluded) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
