package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewDemandChecker checks two rules of a gate with callers. beside is true if its members also have an operation to
// run. A member runs for a caller only if a caller waits there, and each demand has one run. And no member forgets a
// demand: until its run starts, the status names a time at which it is due, unless too many others are down. That it
// really runs is a rule for a healed cluster.
//
//go:noinline
func NewDemandChecker(beside bool) sim.Watcher {
	return sim.EachLife(func(wanted *bool, c *sim.Cluster, o *sim.Occurrence) error {
		*wanted = (*wanted || o.On(policy.Wanted)) && !o.On(policy.Unwanted)
		for e := range o.Did(policy.Run) {
			if !*wanted && (e.Demanded || !beside) {
				return fmt.Errorf("demand: %s runs, and nobody there waits for it", o.Who())
			}
			*wanted = false
		}
		if !o.Completes() || c.PausedByDirective(o.Member) || c.HeldUp(o.Member, false) {
			return nil
		}
		if due := c.Status(o.Member).NextRun < policy.Never; due != *wanted && !(beside && due) {
			return fmt.Errorf("demand: that somebody waits at %s is %v, and that it is ever due is %v", o.Who(), !due,
				due)
		}
		return nil
	})
}
