package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
)

// Status describes this member, as of now.
func (m *Machine) Status(now policy.Time) policy.Status {
	s := policy.Status{
		Phase: m.state.String(), Why: m.why(), Holding: m.holds(), Token: m.copies.Ref(), Since: m.since,
		HasRun: m.hasRun, LastRun: m.lastRun, NextRun: policy.Never,
	}
	if m.holds() {
		s.Holder = m.cfg.Self
	}
	if m.wanted {
		s.NextRun = now
	}
	return s
}

func (m *Machine) why() string {
	switch {
	case m.state == running:
		return "running"
	case m.state == saving:
		return "due, recording the start"
	case m.leaving:
		return "leaving"
	case !m.wanted:
		return "nobody here waits for a run"
	}
	return "due, waiting for the token"
}

// Facts appends how many members keep a copy of the token, and what Q and D count.
func (m *Machine) Facts(_ policy.Time, out []policy.Fact) []policy.Fact {
	out = append(out, policy.Fact{Key: policy.KeyBackups, Count: m.cfg.Backups})
	if m.holds() && (m.cfg.Request == Q || m.cfg.Request == D) {
		out = append(out, policy.Fact{Key: policy.KeyCounter, Count: int(m.T.counter)})
	}
	return out
}

// String returns one line for traces.
func (m *Machine) String() string {
	return fmt.Sprintf("%v %v pending=%t M=%t counter=%d active=%t", m.cfg.Request, m.state, m.pending, m.mp,
		m.T.counter, m.T.active)
}
