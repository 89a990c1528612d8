package ring

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Draw lets a seed draw every parameter of a small ring, and the faults in it.
func Draw(seed uint64) Scenario {
	dice := sim.NewDice(seed, 17)
	s := Scenario{
		Seed: seed, Members: 2 + dice.IntN(8), Request: ring.Requests()[dice.IntN(4)], Links: ring.Links(dice.IntN(2)),
		Network: PaperLinks(dice.Time(100*time.Microsecond, 20*time.Millisecond)), Membership: PerfectDetector(),
		Hook:     sim.Hook{Takes: dice.Time(time.Millisecond, time.Second)},
		Duration: dice.Time(20*time.Second, 200*time.Second),
	}
	if s.Request == ring.Always {
		s.Network.Latency *= 50 // the token moves all the time
	}
	s.Backups = dice.IntN(s.Members)
	s.Demand = sim.Demand{Every: dice.Time(s.Hook.Takes, 20*time.Second), Queued: dice.Share(0.01, 0.5)}
	s.Duration = min(s.Duration, max(20*time.Second, 1000*s.cycle()))
	s.Demand.Withdrawn = dice.Maybe(0.3, 0.01, 0.5)
	if dice.Sometimes(0.5) {
		s.Network.Jitter = dice.Time(s.Network.Latency/10, 4*s.Network.Latency)
	}
	if s.Links == ring.UDP {
		s.Network.FIFO = false
		s.Network.Loss, s.Network.Duplicate = dice.Maybe(0.6, 0.001, 0.3), dice.Maybe(0.5, 0.001, 0.3)
		if dice.Sometimes(0.3) {
			s.Network.Late, s.Network.LateBy = dice.Share(0.01, 0.2), dice.Time(s.Network.Latency, time.Second)
		}
	}
	if dice.Sometimes(0.5) {
		s.Faults.CrashEvery, s.Faults.DownFor = dice.Time(s.Duration/10, s.Duration),
			dice.Time(time.Millisecond, s.Duration/10)
		s.Faults.MidStep = dice.Share(0.1, 1)
	}
	if dice.Sometimes(0.2) {
		s.Faults.LeaveEvery = dice.Time(s.Duration/10, s.Duration)
		s.Faults.AwayFor = dice.Time(time.Second, s.Duration/10)
	}
	if dice.Sometimes(0.2) {
		s.Disk = sim.Disk{Takes: dice.Time(time.Millisecond, timeout/2), Fails: dice.Share(0.01, 0.3)}
	}
	s.Network.Encode = true
	return s
}

// cycle returns about how often some member runs.
func (s *Scenario) cycle() time.Duration {
	return max(s.Hook.Takes+s.Network.Latency, (s.Demand.Every+s.Hook.Takes)/time.Duration(s.Members))
}

// Checkers returns new checkers of all rules, for one run of the scenario.
func (s *Scenario) Checkers() []sim.Watcher {
	checkers := []sim.Watcher{
		check.NewWakeChecker(), check.NewDemandChecker(false), check.NewCustodyChecker(), NewHolderChecker(),
	}
	if s.Links == ring.Paper && s.Faults == (sim.Faults{}) && s.Disk.Fails == 0 && s.Demand.Withdrawn == 0 {
		checkers = append(checkers, NewCostChecker(s.Request, s.Members))
	}
	return checkers
}

// Explore runs the scenario in two phases. In the first, things go wrong, and every checker looks at every step. Then
// everything is healed, and all members ask, twice: every request has to be served within a bound, and then the ring
// falls silent. The watchers are called for everything, after the checkers.
func (s *Scenario) Explore(watchers ...sim.Watcher) error {
	served, silentFrom := NewServedChecker(s.Members), policy.Never
	silent := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.At >= silentFrom && o.Does(policy.Send) {
			return fmt.Errorf("silent: %s sends a message, and nobody waits", o.Who())
		}
		return nil
	})
	c := s.NewCluster(slices.Concat(s.Checkers(), []sim.Watcher{served, silent}, watchers)...)
	c.Boot()
	end := c.StartFaults(s.Faults)
	if err := c.Run(policy.Time(s.Duration)); err != nil {
		return err
	}
	end(s.Network.Sound())
	c.EndDemand()
	served.Begin(c.Now(), s.bound())
	for range 2 {
		if err := s.serveAll(c, served); err != nil {
			return err
		}
	}
	if s.Request == ring.Always {
		return nil
	}
	silentFrom = c.Now().Add(s.bound() / 4) // by then all consequences of the last demand are over
	return c.Run(c.Now().Add(s.bound() / 2))
}

// serveAll lets all members ask that do not wait, and lets time pass until the members that wait now are served.
func (s *Scenario) serveAll(c *sim.Cluster, served *ServedChecker) error {
	for i := range c.Members() {
		if c.Up(i) && !c.Running(i) && !served.Waits(i) {
			c.Want(i)
		}
	}
	for asked := c.Now(); served.Oldest() <= asked; {
		if err := c.Run(c.Now().Add(s.bound() / 64)); err != nil {
			return err
		}
		if err := served.Waiting(c.Now()); err != nil {
			return err
		}
	}
	return nil
}

// bound returns how long a request may wait: as long as all others have their runs before it, several times over.
func (s *Scenario) bound() time.Duration {
	n := time.Duration(s.Members)
	hop := 8 * (s.Network.Latency + s.Network.Jitter)
	return 10*time.Second + 8*n*(s.Hook.Takes+s.Disk.Takes+timeout) + 2*n*n*hop
}
