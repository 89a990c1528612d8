package agent

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// clock is a host's two clocks. Monotonic time stands still while a host is suspended; what was slept is added, so that
// every interval is as long as it was for the rest of the fleet.
type clock struct {
	origin time.Time
	asleep func() time.Duration
	slept  time.Duration
}

// newClock takes a function that returns how long the host has been suspended since it booted.
func newClock(asleep func() time.Duration) clock {
	return clock{origin: time.Now(), asleep: asleep, slept: 0}.rebased()
}

func (c clock) rebased() clock {
	c.slept = c.asleep()
	return c
}

// now reads both clocks.
func (c *clock) now() policy.Instant {
	t := time.Now()
	return policy.Instant{Time: policy.Time(t.Sub(c.origin) + c.slept), Wall: t.UnixNano()}
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
