package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/wire"
)

// A holder whose cable is broken in one direction does not keep its token: within three skips, or within three skips
// after the end of its run if it runs, another member has the token.
func TestAHolderThatIsCutOffInOneDirectionKeepsNoToken(t *testing.T) {
	const skip = time.Second
	for _, walk := range wander.Walks() {
		if !deep.Is() && walk != wander.Sweep {
			continue
		}
		for name, lost := range map[string]func(m *wire.Message, holder wire.MemberID) bool{
			"deaf": func(m *wire.Message, holder wire.MemberID) bool { return m.To == holder },
			"mute": func(m *wire.Message, holder wire.MemberID) bool { return m.From == holder },
		} {
			t.Run(walk.String()+"/"+name, func(t *testing.T) {
				s := wandering.Scenario{
					Seed: 1, Members: 50, Skip: skip, Op: 4 * time.Second, MinInterval: 600 * time.Second, Walk: walk,
					Backups:    2,
					Network:    sim.Network{Latency: 5 * time.Millisecond},
					Membership: sim.Membership{DetectAfter: time.Hour},
					Hook:       sim.Hook{Takes: 4 * time.Second},
				}
				c := s.NewCluster(s.Checkers()...)
				c.BootWithToken(0)
				advance(t, c, time.Hour)
				for range 10 {
					holder := oneHolder(t, c)
					id := c.ID(holder)
					c.Intercept(func(m *wire.Message) sim.Fate { return sim.Fate{Lose: lost(m, id)} })
					if !within(3*skip, c, holder, walk, skip, func() bool { return held(c, holder) }) {
						t.Fatal("nobody but the holder has the token after three skips")
					}
					// A mute holder hears the others, and takes a little longer to find out that they do not hear it.
					if !within(6*skip, c, holder, walk, skip, func() bool { return !c.Status(holder).Holding }) {
						t.Fatal("it holds the token still")
					}
					c.Intercept(nil)
					advance(t, c, 5*time.Minute)
				}
			})
		}
	}
}

// held reports whether any other member holds a token.
func held(c *sim.Cluster, but int) bool {
	for i := range c.Members() {
		if i != but && c.Status(i).Holding {
			return true
		}
	}
	return false
}

// within lets time pass until a condition holds, and reports whether that took no more than a limit. The limit begins
// again whenever the holder runs, or keeps the token of a sweep because it is due soon.
func within(limit time.Duration, c *sim.Cluster, holder int, walk wander.Walk, skip time.Duration,
	so func() bool,
) bool {
	const steps = 20
	for left := limit; !so(); left -= skip / steps {
		if left < 0 || c.Run(c.Now().Add(skip/steps)) != nil {
			return false
		}
		if worksOrWaits(c, holder, walk, skip) {
			left = limit
		}
	}
	return true
}

// worksOrWaits reports whether a holder runs, or keeps the token of a sweep because it is due soon. This is no silence.
func worksOrWaits(c *sim.Cluster, holder int, walk wander.Walk, skip time.Duration) bool {
	s := c.Status(holder)
	due := s.NextRun.Sub(c.Now())
	return s.Holding && (s.Why == wander.WhyRunning || walk == wander.Sweep && 0 < due &&
		due <= time.Duration(c.Members())*skip)
}

// oneHolder lets time pass until a member holds the only token, and returns that member.
func oneHolder(t *testing.T, c *sim.Cluster) int {
	t.Helper()
	for {
		advance(t, c, 700*time.Millisecond)
		for i := range c.Members() {
			if c.Status(i).Holding {
				return i
			}
		}
	}
}
