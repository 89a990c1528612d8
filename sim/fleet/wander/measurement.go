package wander

import (
	"context"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Measure runs the scenario for its Duration with its faults, without checkers and without healing afterwards. It returns the time that was
// reached: less than the Duration if ctx is cancelled or a watcher has an error, which it returns too.
//
// progress, if not nil, is called now and then with the time that is reached. It should return soon.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time, error) {
	c := s.NewCluster(watchers...)
	s.start(c)
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}
