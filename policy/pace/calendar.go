package pace

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/window"
)

// Calendar is the windows of a gate as a member sees them. They follow the wall clock, and so open and close
// accordingly when it is set. A nil calendar is always open, like one without windows.
type Calendar struct {
	// Windows is nil if there are none: then the gate is always open, and the wall clock is never read.
	Windows *window.Set
	// Ahead is how far the wall clock is ahead of monotonic time; See sets it.
	Ahead time.Duration

	// The last answer, in wall time: for times from since until until, the windows open at opens, or are already open.
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

// See reads the clocks. In a step, it must be called before any other method of the calendar.
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

// opensAt computes from the windows only where the last answer does not apply, because it is called in every step of a
// machine.
func (c *Calendar) opensAt(at int64) int64 {
	if at < c.since || at >= c.until {
		c.since, c.opens = at, c.Windows.Opens(at)
		if c.until = c.opens; c.opens == at {
			c.until = c.Windows.Closes(at)
		}
	}
	return max(at, c.opens)
}

// Facts appends when the windows next open or close.
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
