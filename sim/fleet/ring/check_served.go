package ring

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// ServedChecker checks that no member starves: once nothing goes wrong any more, a member that waits gets its run
// within a bound.
type ServedChecker struct {
	// healed is since when nothing goes wrong. The bound is zero until then.
	healed policy.Time
	bound  time.Duration
	// since is from when each member waits; policy.Never if it does not.
	since []policy.Time
}

// NewServedChecker returns a checker of one run.
func NewServedChecker(members int) *ServedChecker {
	return &ServedChecker{since: slices.Repeat([]policy.Time{policy.Never}, members)}
}

// Begin tells the checker that from now on nothing goes wrong.
func (k *ServedChecker) Begin(now policy.Time, bound time.Duration) { k.healed, k.bound = now, bound }

// Waits reports whether a member waits.
func (k *ServedChecker) Waits(who int) bool { return k.since[who] < policy.Never }

// Oldest returns since when the member has waited that has waited longest; policy.Never if no member waits.
func (k *ServedChecker) Oldest() policy.Time { return slices.Min(k.since) }

// Waiting checks the members that still wait. It is for worlds in which nothing happens any more, so that there is no
// step to check.
func (k *ServedChecker) Waiting(now policy.Time) error {
	for who := range k.since {
		if err := k.served(who, now); err != nil {
			return err
		}
	}
	return nil
}

// Watch implements [sim.Watcher].
func (k *ServedChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	since := &k.since[o.Member]
	switch {
	case o.Ends():
		*since = policy.Never
	case o.On(policy.Wanted):
		*since = min(*since, o.At)
	case o.On(policy.Unwanted):
		*since = policy.Never
	}
	for range o.Did(policy.Run) {
		err := k.served(o.Member, o.At)
		*since = policy.Never
		return err
	}
	return nil
}

// served checks how long a member has waited, if it waits.
func (k *ServedChecker) served(who int, now policy.Time) error {
	if since := k.since[who]; k.bound > 0 && k.Waits(who) && now.Sub(max(since, k.healed)) > k.bound {
		return fmt.Errorf("served: %s has waited for %v", sim.MemberName(who), now.Sub(since))
	}
	return nil
}
