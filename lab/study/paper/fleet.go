package paper

import (
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// "All simulations last 10⁶ time units" (section 6).
const longRun = 1_000_000 * time.Second

// fleets returns the sizes of the paper's fleets. Runs are in this order.
func fleets() []int { return []int{study.Nominal, study.Overload} }

// newCluster makes the paper's fleet: all members are up from the beginning, nothing fails, and messages take no time.
func newCluster(members int, seed uint64, watchers ...sim.Watcher) *sim.Cluster {
	s := wandering.Scenario{
		Seed: seed, Members: members,
		Skip: study.Skip, Op: study.Op, MinInterval: study.MinInterval, MaxInterval: study.MaxInterval,
		Hook: sim.Hook{Takes: study.Op},
	}
	c := s.NewCluster(watchers...)
	c.Boot()
	return c
}

// busyShare returns the share of time with an operation if there is only ever one token. Let h be the probability that
// a member that the token reaches is due. Then the token stays (1−h)·Δskip + h·Δop at a member. A member is reached
// every N such stays. It is not due for Δmin and then waits for one round on average, so h is the wait's share of Δmin
// and the wait. At N = 150 that is h = (1+3h)/(5+3h).
func busyShare(members int) float64 {
	skip, op, least := study.Skip.Seconds(), study.Op.Seconds(), study.MinInterval.Seconds()
	h := 0.5
	for range 100 {
		round := float64(members) * ((1-h)*skip + h*op)
		h = round / (least + round)
	}
	return h * op / ((1-h)*skip + h*op)
}
