package kcopies_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
)

// A step allocates nothing: neither in a second of a ring in which all members want to run, nor in that of a ring after
// crashes.
func TestAStepAllocatesNothing(t *testing.T) {
	for name, start := range map[string]func(*kcopies.World, ...sim.Watcher) *sim.Cluster{
		"Le Lann": (*kcopies.World).LeLann, "Martin": (*kcopies.World).Martin,
	} {
		w := kcopies.World{
			Seed: 1, Members: 9, K: 3, Latency: time.Millisecond, FIFO: true, Detect: 5 * time.Millisecond,
		}
		w.Hook, w.Demand = sim.Hook{Takes: time.Millisecond}, sim.Demand{Every: 5 * time.Millisecond}
		c := start(&w)
		c.Boot()
		c.Crash(4)
		if err := c.Run(c.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		steps := c.Steps()
		allocs := testing.AllocsPerRun(5, func() {
			if err := c.Run(c.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		})
		if steps = c.Steps() - steps; allocs > 0 || steps < 1000 {
			t.Errorf("%s: %d steps allocate %v times", name, steps, allocs)
		}
	}
}
