package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/window"
)

// A member is due only while a window of its gate is open: "a member that may not run passes the token on; nobody ever holds and waits for a
// window". Only a member that keeps the token anyway because it is due soon does that for a window, too, which opens within a lap of skips.
// The windows are those of the wall clock, so they open and close with it if it is set.

// opens is the first time from t on at which a window is open.
func (m *Machine) opens(t policy.Time) policy.Time {
	if m.cfg.Windows == nil {
		return t
	}
	at := t.Add(m.ahead)
	if at == policy.Never {
		return policy.Never
	}
	switch opens := m.cfg.Windows.Opens(int64(at)); opens {
	case int64(at):
		return t
	case window.Never:
		return policy.Never
	default:
		return policy.Time(opens).Add(-m.ahead)
	}
}

// windowFacts says when the windows open or close next.
func (m *Machine) windowFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	if m.cfg.Windows == nil {
		return out
	}
	for _, w := range *m.cfg.Windows {
		out = append(out, policy.Fact{Name: "window", Text: w.String()})
	}
	switch opens := m.opens(now); {
	case opens == policy.Never:
	case opens > now:
		out = append(out, policy.Fact{Name: "window_opens", At: opens})
	default:
		closes := policy.Never
		if at := m.cfg.Windows.Closes(int64(now.Add(m.ahead))); at < window.Never {
			closes = policy.Time(at).Add(-m.ahead)
		}
		out = append(out, policy.Fact{Name: "window_closes", At: closes})
	}
	return out
}
