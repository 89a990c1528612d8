package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewOnceChecker checks that the members' operation succeeds on one of them in each interval, counted from the start of
// the run, and that no other starts in it. It is for worlds with one token that is never lost, whose clocks agree. Runs
// for callers do not count.
//
//go:noinline
func NewOnceChecker(interval time.Duration) sim.Watcher {
	var (
		began     = map[int]policy.Time{}
		last      policy.Time
		succeeded bool
	)
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.EndsOperation() && !o.Event.Denied && o.Event.Outcome == policy.Succeeded {
			last, succeeded = began[o.Member], true
		}
		for range o.Operations() {
			if after := o.At.Sub(last); succeeded && after < interval {
				return fmt.Errorf("once: %s runs %v after the start of a run that has succeeded, and once in %v is "+
					"enough", o.Who(), after, interval)
			}
			began[o.Member] = o.At
		}
		return nil
	})
}
