package wander

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// Wrong clocks do not stop or split an honest fleet. Hosts whose clocks were never set, or are far in the past or in
// the future, have their turns under the one token, whichever of them made it. They also have them after the token was
// lost with all its guardians.
func TestAFleetWithWrongClocksHasOneToken(t *testing.T) {
	const year = 365 * 24 * time.Hour
	clocks := []sim.Clock{{}, {Skew: -37 * year}, {Skew: -3 * year}, {Skew: 92 * year}, {Skew: 3 * year}}
	for first := range clocks {
		for _, backups := range []int{0, 2} {
			t.Run(fmt.Sprintf("%d first, %d guardians", first, backups), func(t *testing.T) {
				s := Scenario{
					Seed: 1, Members: len(clocks), Order: sim.InOrder, Backups: backups, Walk: wander.Sweep,
					Skip: time.Second, Op: 2 * time.Second, MinInterval: 20 * time.Second,
					Network: sim.Network{Latency: time.Millisecond, Encode: true},
					Hook:    sim.Hook{Takes: 2 * time.Second},
				}
				c := s.NewCluster(s.Checkers()...)
				for i := range clocks {
					c.SetClock(i, clocks[(first+i)%len(clocks)])
				}
				c.Boot()
				for range 5 {
					if err := c.Run(c.Now().Add(5 * time.Minute)); err != nil {
						t.Fatal(err)
					}
					oneTokenServes(t, c)
					killHolder(t, c)
				}
			})
		}
	}
}

// oneTokenServes checks that there is one holder at most, and that every member has run within the last two laps.
func oneTokenServes(t *testing.T, c *sim.Cluster) {
	t.Helper()
	holders := 0
	for i := range c.Members() {
		st := c.Status(i)
		if st.Holding {
			holders++
		}
		if !st.HasRun || c.Now().Sub(st.LastRun) > time.Minute {
			t.Errorf("%s: %s has not run since %s", sim.Seconds(c.Now()), sim.MemberName(i), sim.Seconds(st.LastRun))
		}
	}
	if holders > 1 {
		t.Errorf("%s: %d hold a token", sim.Seconds(c.Now()), holders)
	}
}

// killHolder restarts the holder of the token and all its guardians.
func killHolder(t *testing.T, c *sim.Cluster) {
	t.Helper()
	var down []int
	for i := range c.Members() {
		if st := Detail(c, i); st.Holding || st.Keeps {
			down = append(down, i)
		}
	}
	for _, i := range down {
		c.Crash(i)
	}
	c.After(time.Second, func() {
		for _, i := range down {
			c.Start(i)
		}
	})
}
