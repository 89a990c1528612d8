package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// ExclusionChecker checks the promise of a strict gate: no two operations run at once. It goes by the operations, not by what the agents
// know: the operation of a dead agent runs until its guard has ended it, and that of a stopped agent ends with its grant.
type ExclusionChecker struct {
	// granted are the members with a grant since their start. orphans counts the operations of dead agents.
	granted map[int]bool
	orphans map[int]int
}

// NewExclusionChecker returns a checker of one run.
func NewExclusionChecker() *ExclusionChecker {
	return &ExclusionChecker{granted: map[int]bool{}, orphans: map[int]int{}}
}

// Watch implements [sim.Watcher].
func (k *ExclusionChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Kind == sim.RunGone:
		k.orphans[o.Member]--
	case o.Outlived:
		k.orphans[o.Member]++
	}
	if o.Ends() {
		delete(k.granted, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		for other := range c.Members() {
			if k.orphans[other] > 0 || k.granted[other] && c.Operating(other) {
				return fmt.Errorf("exclusion: %s runs beside the operation of %s", sim.MemberName(o.Member), sim.MemberName(other))
			}
		}
		k.granted[o.Member] = true
	}
	return nil
}
