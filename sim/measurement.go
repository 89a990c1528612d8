package sim

import (
	"context"

	"github.com/wanderd/wanderd/policy"
)

// patience is how many things happen in a world between two looks at whether it is still wanted: some milliseconds' worth.
const patience = 1 << 14

// Measure runs the scenario for its Duration, faults and all, with nobody watching but the watchers: no checkers, and no
// healing afterwards. It returns the time that was reached: less than the Duration if ctx is cancelled, whose error comes
// with it, or if a watcher has an error.
//
// Progress, if there is one, is told now and then how far the time has come; it should not take long over it.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...Watcher) (policy.Time, error) {
	c := s.NewCluster(watchers...)
	s.start(c)
	startFaults(c, s.Faults)
	until := policy.Time(s.Duration)
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return c.now, err
		}
		for left := patience; more && left > 0; left-- {
			more = c.next(until)
		}
		if progress != nil {
			progress(c.now)
		}
	}
	err := c.reach(until)
	return c.now, err
}
