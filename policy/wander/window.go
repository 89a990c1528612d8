package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
)

// A member is due only while a window of its gate is open: "a member that may not run passes the token on; nobody ever holds and waits for a
// window". Only a member that keeps the token anyway because it is due soon does that for a window, too, which opens within a lap of skips.

func (m *Machine) calendar() pace.Calendar {
	return pace.Calendar{Windows: m.cfg.Windows, Ahead: m.ahead}
}

// opens is the first time from t on at which a window is open.
func (m *Machine) opens(t policy.Time) policy.Time {
	c := m.calendar()
	return c.Opens(t)
}

// windowFacts says when the windows open or close next.
func (m *Machine) windowFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	c := m.calendar()
	return c.Facts(now, out)
}
