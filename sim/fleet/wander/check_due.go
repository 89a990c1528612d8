package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// DueChecker checks that a holder that is due runs, whatever becomes of its offers: after failed offers it does not offer the token
// again.
type DueChecker struct {
	leaving map[int]bool
	// failed counts the failed offers in a row of a member that was due.
	failed map[int]int
}

// offersWhenDue is how many offers may fail at a member that is due before it runs.
const offersWhenDue = 2

// NewDueChecker returns a checker of one run.
func NewDueChecker() *DueChecker { return &DueChecker{leaving: map[int]bool{}, failed: map[int]int{}} }

// Watch implements [sim.Watcher].
func (k *DueChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.leaving, o.Member)
		delete(k.failed, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.Event.Kind == policy.Leave {
		k.leaving[o.Member] = true
	}
	if !o.Completes() {
		return nil
	}
	s := c.Status(o.Member)
	// A run that is being saved may be denied because the disk fails. The token goes on then.
	if !s.Holding || s.Why == wander.WhyRunning || s.Why == wander.WhySaving || s.Why == wander.WhyNotReady || s.NextRun > o.At || k.leaving[o.Member] {
		delete(k.failed, o.Member)
		return nil
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Tell && e.Note == handoff.NoteNoAck {
			if k.failed[o.Member]++; k.failed[o.Member] > offersWhenDue {
				return fmt.Errorf("due: %s holds the token and is due, and offers it for the %dth time", sim.MemberName(o.Member), k.failed[o.Member]+1)
			}
		}
	}
	return nil
}
