package sim

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Epoch is the Unix time at which every run begins, in nanoseconds: a Saturday in June 2007.
const Epoch = int64(1180742400) * int64(time.Second)

// Clock is one member's wall clock. Monotonic time is the same everywhere: no rule compares it between members.
type Clock struct {
	// Skew is how far the clock was ahead when the run began.
	Skew time.Duration
	// Drift is how much faster than true time it goes: 1e-4 is a poor crystal.
	Drift float64
}

// SetClock gives member i another wall clock.
func (c *Cluster) SetClock(i int, k Clock) {
	for len(c.cfg.Clocks) <= i {
		c.cfg.Clocks = append(c.cfg.Clocks, Clock{})
	}
	c.cfg.Clocks[i] = k
}

// Instant is now as member i's host has it.
func (c *Cluster) Instant(i int) policy.Instant {
	if i < len(c.cfg.Clocks) {
		return c.cfg.Clocks[i].instant(c.now)
	}
	return Clock{}.instant(c.now)
}

func (k Clock) instant(now policy.Time) policy.Instant {
	return policy.Instant{Time: now, Wall: Epoch + int64(now) + int64(k.Skew) + int64(k.Drift*float64(now))}
}

// Seconds writes a moment in seconds.
func Seconds(t policy.Time) string { return fmt.Sprintf("%.3fs", time.Duration(t).Seconds()) }
