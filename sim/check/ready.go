package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewReadyChecker checks that nobody runs whose host has not said yes: in this life, since the last run, and not longer
// ago than an answer counts. A run for a caller needs no yes.
func NewReadyChecker(counts time.Duration) sim.Watcher {
	// ran is when the last run of a member ended that was not denied.
	return sim.EachMember(func(ran *policy.Time, c *sim.Cluster, o *sim.Occurrence) error {
		if !c.Asks() {
			return nil
		}
		if o.EndsOperation() && !o.Event.Denied {
			*ran = o.At
		}
		for range o.Operations() {
			switch said := c.Answered(o.Member); {
			case !said.Yes:
				return fmt.Errorf("ready: %s runs, and its host has not said that it is ready", o.Who())
			case said.At < *ran:
				return fmt.Errorf("ready: %s runs again, and its host has said yes for the last run", o.Who())
			case o.At.Sub(said.At) > counts:
				return fmt.Errorf("ready: %s runs, and its host has said yes %v ago", o.Who(), o.At.Sub(said.At))
			}
		}
		return nil
	})
}
