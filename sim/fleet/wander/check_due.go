package wander

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// offersWhenDue is how many offers of a member that is due may fail before it runs.
const offersWhenDue = 2

// NewDueChecker checks that a holder that is due runs, whatever becomes of its offers: after offersWhenDue failed
// offers it does not offer the token again.
//
//go:noinline
func NewDueChecker() sim.Watcher {
	// failed counts a member's consecutive failed offers while it was due.
	type member struct {
		leaving bool
		failed  int
	}
	return sim.EachLife(func(me *member, c *sim.Cluster, o *sim.Occurrence) error {
		me.leaving = me.leaving || o.On(policy.Leave)
		if !o.Completes() {
			return nil
		}
		s := c.Status(o.Member)
		// A run that is being saved may be denied because the disk fails, and other members may object to a run. Then
		// the token goes on.
		tries := slices.Contains([]string{
			wander.WhyRunning, wander.WhyAsking, wander.WhySaving, soft.WhyNotReady,
		}, s.Why)
		if !s.Holding || tries || s.NextRun > o.At || me.leaving {
			me.failed = 0
			return nil
		}
		for e := range o.Did(policy.Tell) {
			if e.Note != handoff.NoteNoAck {
				continue
			}
			if me.failed++; me.failed > offersWhenDue {
				return fmt.Errorf("due: %s holds the token and is due, and offers it for the %dth time", o.Who(),
					me.failed+1)
			}
		}
		return nil
	})
}
