package wander

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// holders returns how many members hold a token.
func holders(c *sim.Cluster) (n int) {
	for i := range c.Members() {
		if c.Up(i) && c.Status(i).Holding {
			n++
		}
	}
	return n
}

// Seconds after a split network is whole again there is one token, even in large fleets and where operations take long,
// and whether the parts had copies of one token or each had made its own.
func TestAHealedFleetHasOneTokenWithinSeconds(t *testing.T) {
	const most = 10 * time.Second
	seeds := deep.Of(1, 2, 10)
	for _, tc := range []struct {
		members int
		parted  time.Duration
		share   float64
		walk    wander.Walk
		takes   time.Duration
	}{
		{40, time.Hour, 0.5, wander.Sweep, 4 * time.Second},
		{200, 5 * time.Minute, 0.5, wander.Sweep, 30 * time.Second},
		{200, 5 * time.Minute, 0.5, wander.Random, 30 * time.Second},
		{200, 2 * time.Hour, 0.1, wander.Random, 4 * time.Second},
		{200, 2 * time.Hour, 0.005, wander.Shuffle, 4 * time.Second},
		{1000, 5 * time.Minute, 0.5, wander.Sweep, 4 * time.Second},
	} {
		split, longest := 0, time.Duration(0)
		for seed := range uint64(seeds) {
			c, _, _ := busy(t, sweepOf(seed+1, tc.members, func(s *Scenario) {
				s.Walk, s.MinInterval, s.Hook.Takes, s.Op = tc.walk, 10*time.Minute, tc.takes, tc.takes
			}))
			sides, dice := make([]bool, tc.members), rand.New(rand.NewPCG(seed, 3))
			for i := range sides {
				sides[i] = dice.Float64() < tc.share
			}
			c.Part(sides, false)
			if err := c.Run(c.Now().Add(tc.parted)); err != nil {
				t.Fatal(err)
			}
			if holders(c) > 1 {
				split++
			}
			c.Heal()
			healed := c.Now()
			for last := healed; c.Now() < healed.Add(12*most); {
				if err := c.Run(c.Now().Add(100 * time.Millisecond)); err != nil {
					t.Fatal(err)
				}
				if holders(c) > 1 {
					last = c.Now()
				}
				longest = max(longest, last.Sub(healed))
			}
		}
		t.Logf("%+v: two tokens in %d of %d, one at the latest %v after the network was whole", tc, split, seeds,
			longest)
		if longest > most {
			t.Errorf("want %v at most", most)
		}
	}
}
