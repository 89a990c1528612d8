package call

import (
	"context"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Measure runs the scenario for its Duration, without checkers. It returns the time that was reached. That is less than
// the Duration if ctx is cancelled; then its error is returned too. progress, if not nil, is called now and then with
// the time that was reached.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time,
	error,
) {
	c := s.NewCluster(watchers...)
	s.start(c)
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}
