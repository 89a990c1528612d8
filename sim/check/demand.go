package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// DemandChecker checks two rules of a gate on demand. A member runs only if somebody waits there, and each demand has one run. And no
// member forgets a demand: until its run starts, the status names a time at which it is due. That it really runs is a rule for a
// healed cluster.
type DemandChecker struct{ wanted map[int]bool }

// NewDemandChecker returns a checker of one run.
func NewDemandChecker() *DemandChecker { return &DemandChecker{wanted: map[int]bool{}} }

// Watch implements [sim.Watcher].
func (k *DemandChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.wanted, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	switch o.Event.Kind {
	case policy.Wanted:
		k.wanted[o.Member] = true
	case policy.Unwanted:
		delete(k.wanted, o.Member)
	case policy.Started, policy.Received, policy.PeersChanged, policy.Saved, policy.Finished, policy.Suspended, policy.Ordered, policy.Leave, policy.Woke:
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		if !k.wanted[o.Member] {
			return fmt.Errorf("demand: %s runs, and nobody there waits for it", sim.MemberName(o.Member))
		}
		delete(k.wanted, o.Member)
	}
	if !o.Completes() || c.PausedByOrder(o.Member) {
		return nil
	}
	if due := c.Status(o.Member).NextRun < policy.Never; due != k.wanted[o.Member] {
		return fmt.Errorf("demand: that somebody waits at %s is %v, and that it is ever due is %v", sim.MemberName(o.Member), !due, due)
	}
	return nil
}
