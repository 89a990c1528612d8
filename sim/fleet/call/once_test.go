package call

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// drawOnce returns the scenario of a seed in which nothing is lost, and one success in min_interval is enough for all.
func drawOnce(seed uint64) Scenario {
	s := DrawDue(seed)
	s.Faults, s.Keep, s.Hook.Reboots, s.Slots, s.Windows = sim.Faults{}, 0, sim.Reboots{}, 0, nil
	s.ClockSkew, s.Differ, s.Reload, s.Hook.Deaf, s.Hook.Hangs = 0, 0, Reload{}, 0, 0
	s.Network.Loss, s.Network.Late, s.Network.Broken = 0, 0, 0
	s.Disk, s.SlowDisk = sim.Disk{}, sim.Disk{}
	s.WaitAlone = true // Else members that have not met yet have a token each.
	s.Operators = sim.Operators{Once: s.MinInterval}
	return s
}

// "One run in each interval for the whole fleet, and not one for each member."
func TestOneSuccessInAnIntervalIsEnoughForAll(t *testing.T) {
	ran := 0
	for _, seed := range mutant.Seeds(deep.Of[uint64](50, 200, 500)) {
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
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if ran < 100 {
		t.Errorf("%d runs", ran)
	}
}

// What a lost token costs: a host that loses its power just after its run has taken the word with it that nobody need
// run again, if nobody has heard it.
func TestWhatAHostCostsThatDiesJustAfterItsRun(t *testing.T) {
	const interval, nights = time.Hour, 200
	const ms = time.Millisecond
	for _, dies := range []time.Duration{0, ms, 5 * ms, 20 * ms, time.Second} {
		twice, last := 0, policy.Time(-1)
		var began policy.Time
		s := idle(10, 0.1)
		s.OnDemand, s.Demand, s.MinInterval = false, sim.Demand{}, interval
		s.Operators = sim.Operators{Once: interval}
		c := s.NewCluster(sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
			if who := o.Member; o.EndsOperation() && o.Event.Outcome == policy.Succeeded {
				last = began
				c.After(dies, func() { c.PowerCut(who) })
				c.After(dies+time.Minute, func() { c.Start(who) })
			}
			for range o.Operations() {
				if began = o.At; last >= 0 && o.At.Sub(last) < interval {
					twice++
				}
			}
			return nil
		}))
		s.start(c)
		if err := c.Run(policy.Time(nights * interval)); err != nil {
			t.Fatal(err)
		}
		t.Logf("power fails %v after each run: in %d of %d intervals a second host runs", dies, twice, nights)
		if dies >= 20*ms && twice > 0 {
			t.Errorf("power fails %v after a run, and a second host runs", dies)
		}
	}
}
