package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewReadyChecker checks that no member runs unless its host has said yes: in this life, since the last run, and not
// longer ago than counts, the time for which an answer counts. A run for a caller needs no yes.
//
//go:noinline
func NewReadyChecker(counts time.Duration) sim.Watcher {
	// ran is when the member's last run ended, not counting denied ones.
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
