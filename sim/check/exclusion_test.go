package check_test

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// newExclusionChecker checks the promise of a strict gate: no two operations run at once. It checks the operations, not
// what the agents know: the operation of a dead agent runs until its guard has ended it, and that of a stopped agent
// ends with its grant.
func newExclusionChecker() sim.Watcher {
	// granted are the members with a grant since their start. orphans counts the operations of dead agents.
	granted, orphans := map[int]bool{}, map[int]int{}
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.Kind == sim.RunGone:
			orphans[o.Member]--
		case o.Outlived:
			orphans[o.Member]++
		}
		if o.Ends() {
			delete(granted, o.Member)
		}
		for range o.Did(policy.Run) {
			for other := range c.Members() {
				if orphans[other] > 0 || granted[other] && c.Operating(other) {
					return fmt.Errorf("exclusion: %s runs beside the operation of %s", o.Who(), sim.MemberName(other))
				}
			}
			granted[o.Member] = true
		}
		return nil
	})
}
