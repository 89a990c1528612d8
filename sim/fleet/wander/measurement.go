package wander

import (
	"context"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Measure runs the scenario for its Duration, faults and all, with nobody watching but the watchers: no checkers, and no
// healing afterwards. It returns the time that was reached: less than the Duration if ctx is cancelled, whose error comes
// with it, or if a watcher has an error.
//
// Progress, if there is one, is told now and then how far the time has come; it should not take long over it.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time, error) {
	c := s.NewCluster(watchers...)
	s.start(c)
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}
