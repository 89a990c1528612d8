package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// epoch is the Unix time at which every run begins, in nanoseconds: a Saturday in June 2007.
const epoch = int64(1180742400) * int64(time.Second)

// Clock is one member's wall clock. Monotonic time is the same everywhere: no rule compares it between members.
type Clock struct {
	// Skew is how far the clock was ahead when the run began.
	Skew time.Duration
	// Drift is how much faster than true time it goes: 1e-4 is a poor crystal.
	Drift float64
}

// instant is now as member who's host has it.
func (c *Cluster) instant(who int32) policy.Instant {
	if int(who) < len(c.cfg.Clocks) {
		return c.cfg.Clocks[who].instant(c.now)
	}
	return Clock{}.instant(c.now)
}

func (k Clock) instant(now policy.Time) policy.Instant {
	return policy.Instant{Time: now, Wall: epoch + int64(now) + int64(k.Skew) + int64(k.Drift*float64(now))}
}
