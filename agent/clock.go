package agent

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// host is the clocks of a host, and whether it is being shut down.
type host struct {
	// wall is the wall clock. asleep is how long the host has been suspended since it booted.
	wall   func() time.Time
	asleep func() time.Duration
	boot   func() boot
	// stops asks the service manager, which may take a second.
	stops func() bool
}

type boot struct {
	// id is unique for each boot; empty if the system has none.
	id string
	// up is the time since the boot, including suspensions.
	up time.Duration
	// synced says that the kernel holds the wall clock for synchronised.
	synced bool
}

// clock is a host's two clocks. Monotonic time stands still while a host is suspended. The clock adds the suspensions, so that an
// interval is as long as it was for the rest of the fleet.
type clock struct {
	host
	origin time.Time
	slept  time.Duration
	// zero is when monotonic time, with the suspensions, was zero, as time since boot. It is never too late: this process may stand
	// still between any two readings.
	zero time.Duration
}

func newClock(h host) clock {
	zero := h.boot().up - h.asleep()
	return clock{host: h, zero: zero, origin: time.Now(), slept: h.asleep()}
}

// sinceBoot converts a monotonic time to time since boot, in which a suspension needs not be noticed first. Zero stays zero.
func (c *clock) sinceBoot(t policy.Time) time.Duration {
	if t == 0 {
		return 0
	}
	return max(c.zero+time.Duration(t), 1)
}

func (c *clock) now() policy.Instant {
	return policy.Instant{Time: policy.Time(time.Since(c.origin) + c.slept), Wall: c.wall().UnixNano()}
}

// at converts a monotonic time to the wall clock.
func (c *clock) at(t policy.Time) time.Time {
	now := c.now()
	return time.Unix(0, now.Wall).Add(t.Sub(now.Time))
}

// shortestSleep is the least suspension that counts: two clocks that are read one after the other differ a little.
const shortestSleep = 500 * time.Millisecond

// wokeUp returns how long the host was suspended since the last call that returned more than zero.
func (c *clock) wokeUp() time.Duration {
	slept := c.asleep()
	gap := slept - c.slept
	if gap < shortestSleep {
		return 0
	}
	c.slept = slept
	return gap
}

// entropy is the machines' cryptographic random source.
type entropy struct{}

// Uint64 returns 64 random bits.
func (entropy) Uint64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return binary.LittleEndian.Uint64(b[:])
}
