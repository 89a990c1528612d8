package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Steady is for how long a view must not change before the number of tokens follows it.
const Steady = time.Minute

// ShareOf is how many tokens a share of so many members is.
func ShareOf(members, percent int) int { return min(max(members*percent/100, 1), wire.MaxSlots) }

// NewShareChecker checks that no member runs under a token that it does not count: one of the share of its view, if
// that has not changed for a minute, and else of the view before. A run may have been granted startWithin before its
// start.
//
//go:noinline
func NewShareChecker(percent int, startWithin time.Duration) sim.Watcher {
	type life struct {
		// count is what the member counts, members the size of its view. changed is when its view changed last, and
		// fell when the count did; before is what it was then.
		count, before, members int
		changed, fell          policy.Time
		view                   []wire.MemberID
	}
	return sim.EachLife(func(me *life, c *sim.Cluster, o *sim.Occurrence) error {
		if me.members > 0 && o.At >= me.changed.Add(Steady) {
			if n := ShareOf(me.members, percent); n != me.count {
				me.before, me.count, me.fell = max(me.count, 1), n, me.changed.Add(Steady)
			}
		}
		if view := c.View(o.Member); o.On(policy.PeersChanged) && !slices.Equal(view, me.view) {
			me.view, me.members, me.changed = slices.Clone(view), len(view), o.At
		}
		for e := range o.Did(policy.Run) {
			most := max(me.count, 1)
			if o.At < me.fell.Add(startWithin) {
				most = max(most, me.before)
			}
			if int(e.Token.Slot) >= most {
				return fmt.Errorf("share: %s runs under the token of slot %d, and counts %d, %d %% of a view of %d",
					o.Who(), e.Token.Slot, most, percent, me.members)
			}
		}
		return nil
	})
}
