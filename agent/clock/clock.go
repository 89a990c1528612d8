// Package clock has a host's clocks: monotonic time that includes suspensions of the host, time since its boot, and the
// wall clock.
package clock

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Host has the clocks of a host.
type Host struct {
	// Wall is the wall clock. Asleep is how long the host has been suspended since it booted.
	Wall   func() time.Time
	Asleep func() time.Duration
	Boot   func() Boot
}

// Boot is one boot of a host.
type Boot struct {
	// ID is unique for each boot; empty if the system has none.
	ID string
	// Up is the time since the boot, including suspensions.
	Up time.Duration
	// Synced is true if the kernel considers the wall clock synchronised.
	Synced bool
}

// OfHost returns the clocks of the host of this process.
func OfHost() Host { return Host{Wall: time.Now, Asleep: sinceBootAsleep, Boot: thisBoot()} }

// Clock combines a host's two clocks. Monotonic time stands still while a host is suspended. Clock adds the
// suspensions, so that an interval is as long as it was for the rest of the fleet.
type Clock struct {
	Host
	origin time.Time
	slept  time.Duration
	// zero is the time since boot at which monotonic time, with the suspensions, was zero. It is never too late: this
	// process may stand still between any two readings.
	zero time.Duration
}

// New starts a clock at zero.
func New(h Host) *Clock {
	zero := h.Boot().Up - h.Asleep()
	return &Clock{Host: h, zero: zero, origin: time.Now(), slept: h.Asleep()}
}

// SinceBoot converts a monotonic time to time since boot, in which a suspension needs not be noticed first. Zero stays
// zero.
func (c *Clock) SinceBoot(t policy.Time) time.Duration {
	if t == 0 {
		return 0
	}
	return max(c.zero+time.Duration(t), 1)
}

// Now reads both clocks.
func (c *Clock) Now() policy.Instant {
	return policy.Instant{Time: policy.Time(time.Since(c.origin) + c.slept), Wall: c.Wall().UnixNano()}
}

// At converts a monotonic time to the wall clock.
func (c *Clock) At(t policy.Time) time.Time {
	now := c.Now()
	return time.Unix(0, now.Wall).Add(t.Sub(now.Time))
}

// shortestSleep is the shortest suspension that counts: two clocks that are read one after the other differ a little.
const shortestSleep = 500 * time.Millisecond

// WokeUp returns how long the host was suspended since the last call that returned more than zero.
func (c *Clock) WokeUp() time.Duration {
	slept := c.Asleep()
	gap := slept - c.slept
	if gap < shortestSleep {
		return 0
	}
	c.slept = slept
	return gap
}
