package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
)

// SilenceChecker checks that an offer does not end a silence: it delays a new token by no more than the time of a handoff, whoever plays
// recorded offers back.
type SilenceChecker struct {
	patience time.Duration
	// at is when each member would make a new token, as of its last step.
	at map[int]policy.Time
}

// handoffsTake bounds a handoff, in timeouts or round trips.
const handoffsTake = 64

// NewSilenceChecker returns a checker of one run with the given timeout of handoffs.
func NewSilenceChecker(timeout time.Duration) *SilenceChecker {
	return &SilenceChecker{patience: handoffsTake * timeout, at: map[int]policy.Time{}}
}

// Watch implements [sim.Watcher].
func (k *SilenceChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if !o.Completes() {
		delete(k.at, o.Member)
		return nil
	}
	s := Detail(c, o.Member)
	was, armed := k.at[o.Member]
	if !s.RegenerateArmed {
		delete(k.at, o.Member)
		return nil
	}
	k.at[o.Member] = s.RegenerateAt
	offered := o.Event.Kind == policy.Received && o.Event.Msg.Kind == handoff.KindToken
	if armed && offered && s.RegenerateAt.Sub(was) > max(k.patience, handoffsTake*s.RoundTrip) {
		return fmt.Errorf("silence: %s is offered a token, and waits for %v longer before it makes one",
			sim.MemberName(o.Member), s.RegenerateAt.Sub(was))
	}
	return nil
}
