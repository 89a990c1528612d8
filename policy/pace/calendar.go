package pace

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/window"
)

// Calendar is the windows of a gate as a member sees them. They are those of the wall clock, so they open and close
// with it if it is set. A nil calendar is always open, as one without windows.
type Calendar struct {
	// Windows is nil if there are none: the gate is always open, and nobody reads the wall clock.
	Windows *window.Set
	// Ahead is how far the wall clock is ahead of monotonic time: See sets it.
	Ahead time.Duration

	// The last answer, in wall time: asked from since until until, the windows open at opens, or are open already.
	since, until, opens int64
}

// WindowsOf returns the windows of a calendar.
func WindowsOf(s window.Set) *window.Set {
	if len(s) == 0 {
		return nil
	}
	return &s
}

// Set takes other windows.
func (c *Calendar) Set(s window.Set) { *c = Calendar{Windows: WindowsOf(s), Ahead: c.Ahead} }

// See reads the clocks. It must be called before anything else is asked of the calendar in a step.
func (c *Calendar) See(now policy.Instant) {
	if c != nil && c.Windows != nil {
		c.Ahead = time.Duration(now.Wall) - time.Duration(now.Time)
	}
}

// Opens returns the first time from t on at which a window is open.
func (c *Calendar) Opens(t policy.Time) policy.Time {
	if c == nil || c.Windows == nil {
		return t
	}
	at := t.Add(c.Ahead)
	if at == policy.Never {
		return policy.Never
	}
	switch opens := c.opensAt(int64(at)); opens {
	case int64(at):
		return t
	case window.Never:
		return policy.Never
	default:
		return policy.Time(opens).Add(-c.Ahead)
	}
}

// opensAt looks into the calendar only where the last answer does not tell: every step of a machine asks.
func (c *Calendar) opensAt(at int64) int64 {
	if at < c.since || at >= c.until {
		c.since, c.opens = at, c.Windows.Opens(at)
		if c.until = c.opens; c.opens == at {
			c.until = c.Windows.Closes(at)
		}
	}
	return max(at, c.opens)
}

// Facts says when the windows open or close next.
func (c *Calendar) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	if c == nil || c.Windows == nil {
		return out
	}
	for _, w := range *c.Windows {
		out = append(out, policy.Fact{Key: policy.KeyWindow, Text: w.String()})
	}
	switch opens := c.Opens(now); {
	case opens == policy.Never:
	case opens > now:
		out = append(out, policy.Fact{Key: policy.KeyWindowOpens, At: opens})
	default:
		closes, wall := policy.Never, int64(now.Add(c.Ahead))
		if at := c.Windows.Closes(wall); at < window.Never {
			closes = policy.Time(at).Add(-c.Ahead)
		}
		out = append(out, policy.Fact{
			Key: policy.KeyWindowOpened, At: policy.Time(c.Windows.Opened(wall)).Add(-c.Ahead),
		},
			policy.Fact{Key: policy.KeyWindowCloses, At: closes})
	}
	return out
}
