package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewCrowdChecker checks that a fleet in which nothing goes wrong makes one token, and that one operation runs at once,
// however little its members know. The hardest such fleet is one with a MaxInterval much shorter than its first lap.
func NewCrowdChecker() sim.Watcher {
	made, running := 0, map[int]bool{}
	return sim.EachMember(func(_ *struct{}, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.EndsRun() {
			delete(running, o.Member)
		}
		for e := range o.Did(policy.Took) {
			if e.Cause == policy.CauseMade {
				made++
			}
		}
		for range o.Did(policy.Run) {
			running[o.Member] = true
		}
		if made > 1 || len(running) > 1 {
			return fmt.Errorf("crowd: %d tokens were made, and %d members run at once, and nothing has gone wrong: "+
				"see %s", made, len(running), o.Who())
		}
		return nil
	})
}
