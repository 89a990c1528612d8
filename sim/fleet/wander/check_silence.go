package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
)

// handoffsTake bounds the duration of a handoff, in timeouts or round trips.
const handoffsTake = 64

// NewSilenceChecker checks that an offer does not end a silence: it delays a new token by no more than the time of a
// handoff, even if an adversary replays recorded offers. timeout is that of handoffs.
func NewSilenceChecker(timeout time.Duration) sim.Watcher {
	// at is when a member would make a new token, as of its last step.
	type look struct {
		armed bool
		at    policy.Time
	}
	return sim.EachMember(func(me *look, c *sim.Cluster, o *sim.Occurrence) error {
		was := *me
		*me = look{}
		if !o.Completes() {
			return nil
		}
		s := Detail(c, o.Member)
		*me = look{s.RegenerateArmed, s.RegenerateAt}
		offered := o.On(policy.Received) && o.Event.Msg.Kind == handoff.KindToken
		if longer := me.at.Sub(was.at); was.armed && me.armed && offered &&
			longer > handoffsTake*max(timeout, s.RoundTrip) {
			return fmt.Errorf("silence: %s is offered a token, and waits for %v longer before it makes one", o.Who(),
				longer)
		}
		return nil
	})
}
