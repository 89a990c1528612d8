package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// NewRestartChecker checks that a fleet goes on after all its members have been restarted: from the time at which they
// are back, each member that is due runs within a bound. The fleet has no other faults, and more than half of its
// members are back.
func NewRestartChecker(back policy.Time, within time.Duration) sim.Watcher {
	return sim.EachLife(func(due *policy.Time, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.Started) {
			*due = max(back, o.At)
		}
		if !o.Completes() {
			return nil
		}
		s := c.Status(o.Member)
		if s.NextRun > o.At || s.Why == wander.WhyRunning || s.Why == wander.WhyLeaving {
			*due = max(*due, s.NextRun)
			return nil
		}
		if waits := o.At.Sub(*due); waits > within {
			return fmt.Errorf("restart: all are back, and %s has been due for %v and has not run", o.Who(), waits)
		}
		return nil
	})
}

// restarts reports whether all members are restarted, and nothing else keeps them from running.
func (s *Scenario) restarts() bool {
	faults := s.Faults
	faults.Restart = sim.Restart{}
	sound := sim.Network{Latency: s.Network.Latency, Encode: s.Network.Encode}
	only := faults == (sim.Faults{}) && !s.someStay() && s.Disk == (sim.Disk{}) && s.Network == sound &&
		s.Hook == (sim.Hook{Takes: s.Op})
	calm := s.Operators == (sim.Operators{}) && s.Ready == (sim.Ready{}) && s.Windows == nil && !s.onDemand()
	back, within := s.restarted()
	return s.Faults.Restart.At > 0 && only && calm && s.MinInterval > time.Duration(back)+within
}

// restarted returns when all members that come back are back, and for how long a member that is due may wait then.
func (s *Scenario) restarted() (back policy.Time, within time.Duration) {
	r, m, timeout := &s.Faults.Restart, &s.Membership, wander.Patience(s.Skip)
	const leaves = stopTimeout + time.Second
	back = policy.Time(r.At + leaves + r.After + r.Within)
	seen := 2*m.GossipAfter + m.DetectAfter + 10*m.DetectMore + m.CutAfter + 2*m.Spread
	first := time.Duration(40+8*s.Members) * timeout
	laps := map[wander.Walk]time.Duration{wander.Sweep: 2, wander.Shuffle: 3, wander.Random: 30}[s.Walk]
	return back, seen + first + laps*s.lap()
}
