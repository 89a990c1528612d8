package agent

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// host is what a host says of its clocks.
type host struct {
	// wall is the wall clock, asleep for how long the host has been suspended since it booted.
	wall   func() time.Time
	asleep func() time.Duration
	boot   func() boot
}

// boot is one boot of a host.
type boot struct {
	// id tells it from all others; empty if the system has no such thing.
	id string
	// up is how long it has lasted, suspensions included.
	up time.Duration
	// synced says that the kernel takes the wall clock for right: somebody compares it with others.
	synced bool
}

// clock is a host's two clocks. Monotonic time stands still while a host is suspended; what was slept is added, so that
// every interval is as long as it was for the rest of the fleet.
type clock struct {
	host
	origin time.Time
	slept  time.Duration
}

func newClock(h host) clock { return clock{host: h, origin: time.Now()}.rebased() }

func (c clock) rebased() clock {
	c.slept = c.asleep()
	return c
}

// now reads both clocks.
func (c *clock) now() policy.Instant {
	return policy.Instant{Time: policy.Time(time.Since(c.origin) + c.slept), Wall: c.wall().UnixNano()}
}

// at returns the wall clock's idea of a monotonic time.
func (c *clock) at(t policy.Time) time.Time {
	now := c.now()
	return time.Unix(0, now.Wall).Add(t.Sub(now.Time))
}

// shortestSleep is the least suspension that counts: reading the two clocks one after the other gives small differences.
const shortestSleep = 500 * time.Millisecond

// wokeUp reports how long the host was suspended since the last call that said so; zero if it was not.
func (c *clock) wokeUp() time.Duration {
	slept := c.asleep()
	gap := slept - c.slept
	if gap < shortestSleep {
		return 0
	}
	c.slept = slept
	return gap
}

// entropy is the agent's cryptographic source for the machines, read in portions.
type entropy struct {
	buf  [256]byte
	left int
}

// Uint64 returns 64 random bits.
func (e *entropy) Uint64() uint64 {
	if e.left == 0 {
		// crypto/rand.Read never fails: it ends the program instead.
		_, _ = rand.Read(e.buf[:])
		e.left = len(e.buf)
	}
	e.left -= 8
	return binary.LittleEndian.Uint64(e.buf[e.left:])
}
