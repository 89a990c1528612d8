package wander

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// drawOnce returns the scenario of a seed in which nothing is lost, and one success in min_interval is enough for all.
// It keeps all rules that a gate with one token can have.
func drawOnce(seed uint64) Scenario {
	s := Draw(seed)
	s.Faults, s.Hook.Reboots, s.Slots, s.SlotsShare, s.MixedSlots = sim.Faults{}, sim.Reboots{}, 0, 0, false
	s.ClockSkew, s.ClockDrift, s.Differ, s.Hook.Deaf, s.Hook.Hangs = 0, 0, 0, 0, 0
	s.Standing, s.Core = NothingStands, sim.Core{}
	n := &s.Network
	n.Loss, n.Late, n.Broken, n.Distant, n.Replay = 0, 0, 0, 0, 0
	// Else a token is taken for lost that is not.
	quick := wander.Patience(s.Skip) / 8
	n.Latency, n.Jitter, s.Backups = min(n.Latency, quick/2), min(n.Jitter, quick/2), max(s.Backups, 1)
	s.Disk, s.SlowDisk = sim.Disk{}, sim.Disk{}
	if s.onDemand() {
		s.Demand = sim.Demand{}
	}
	// Else members that have not met yet have a token each.
	s.StartWithin, s.TokenInPlace, s.WaitAlone = 0, false, s.Members > 1
	s.Operators = sim.Operators{Once: s.MinInterval, StopAfter: s.Operators.StopAfter}
	return s
}

// "One run in each interval for the whole fleet, and not one for each member", whatever other rules the gate has.
func TestOneSuccessInAnIntervalIsEnoughForAll(t *testing.T) {
	ran := 0
	for _, seed := range mutant.Seeds(deep.Of[uint64](100, 200, 1500)) {
		s := drawOnce(seed)
		counts := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
			if o.EndsOperation() && o.Event.Outcome == policy.Succeeded {
				ran++
			}
			return nil
		})
		c := s.NewCluster(check.NewOnceChecker(s.MinInterval), counts)
		s.start(c)
		if err := c.Run(policy.Time(s.Duration)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if t.Logf("%d runs", ran); ran < 100 {
		t.Errorf("%d runs", ran)
	}
}
