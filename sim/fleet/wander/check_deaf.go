package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// DeafChecker checks that a holder that hears nobody gives up its token, as long as there are guardians to take it: at the latest a
// while after its first offer without an answer. A member that sees nobody is a fleet of one and keeps the token. In a gate with
// several tokens the others may keep it busy.
type DeafChecker struct {
	while time.Duration
	// failed is the time of a deaf member's first failed offer.
	failed map[int]policy.Time
}

// NewDeafChecker returns a checker of one run. A holder notices within while.
func NewDeafChecker(while time.Duration) *DeafChecker {
	return &DeafChecker{while: while, failed: map[int]policy.Time{}}
}

// Watch implements [sim.Watcher].
func (k *DeafChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() || c.Hears(o.Member) {
		delete(k.failed, o.Member)
		return nil
	}
	if !o.Completes() {
		return nil
	}
	s := Detail(c, o.Member)
	if !s.Holding || len(c.View(o.Member)) <= 1 || s.Why == wander.WhyRunning || s.Why == wander.WhySaving || !guarded(c, o.Member) {
		delete(k.failed, o.Member)
		return nil
	}
	since, failed := k.failed[o.Member]
	switch {
	// Its patience grows with the round trips that it has seen, or seemed to see while it was deaf before.
	case failed && o.At.Sub(since) > k.while+4*s.RoundTrip:
		return fmt.Errorf("deaf: %s hears nobody, has offered its token in vain for %v and holds it still", sim.MemberName(o.Member), o.At.Sub(since))
	case !failed && tells(o, s.Token.ID, handoff.NoteNoAck):
		k.failed[o.Member] = o.At
	}
	return nil
}
