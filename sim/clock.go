package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Epoch is the Unix time at which every run begins, in nanoseconds: a Saturday in June 2007.
const Epoch = int64(1180742400) * int64(time.Second)

// Clock is the clock of one member's host. A world whose rules do not rest on the rates of clocks leaves Rate zero:
// monotonic time is then the true one.
type Clock struct {
	// Rate is how much faster than true time the monotonic clock runs, also while the host sleeps: 0.01 is one percent.
	Rate float64
	// Skew is how far the wall clock was ahead when the run began.
	Skew time.Duration
	// Drift is how much faster than true time the wall clock runs: 1e-4 is a poor crystal.
	Drift float64
}

// SetClock gives member i another clock. Call it before the member starts.
func (c *Cluster) SetClock(i int, k Clock) {
	for len(c.cfg.Clocks) <= i {
		c.cfg.Clocks = append(c.cfg.Clocks, Clock{})
	}
	c.cfg.Clocks[i] = k
}

// Instant returns the present time as the clocks of member i's host show it.
func (c *Cluster) Instant(i int) policy.Instant {
	if i >= len(c.cfg.Clocks) {
		return policy.Instant{Time: c.now, Wall: Epoch + int64(c.now)}
	}
	return c.cfg.Clocks[i].instant(c.now)
}

func (c *Cluster) clockOf(who int32) Clock {
	if int(who) < len(c.cfg.Clocks) {
		return c.cfg.Clocks[who]
	}
	return Clock{}
}

func (k Clock) instant(now policy.Time) policy.Instant {
	return policy.Instant{Time: k.reads(now), Wall: Epoch + int64(now) + int64(k.Skew) + int64(k.Drift*float64(now))}
}

// reads returns the monotonic time of this host at a true time.
func (k Clock) reads(now policy.Time) policy.Time {
	return now + policy.Time(math.Floor(k.Rate*float64(now)))
}

// Shows returns when the clock of member i shows a time, if its host does not sleep until then.
func (c *Cluster) Shows(i int, at policy.Time) policy.Time {
	if at == policy.Never {
		return at
	}
	k := c.clockOf(int32(i))
	return c.now.Add(k.shows(at).Sub(k.shows(c.Instant(i).Time)))
}

// shows returns the first true time at which this host's monotonic time is t or later.
func (k Clock) shows(t policy.Time) policy.Time {
	if k.Rate == 0 || t == policy.Never || t < 0 {
		return t // What was due before all time is due now.
	}
	now := policy.Time(float64(t)/(1+k.Rate)) - 2 // Both conversions are rounded.
	for k.reads(now) < t {
		now++
	}
	return now
}

// Seconds writes a moment in seconds.
func Seconds(t policy.Time) string { return fmt.Sprintf("%.3fs", time.Duration(t).Seconds()) }
