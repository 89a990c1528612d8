package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// started is the time of a run, the least time from there to the next run, and whether the member was restarted since.
type started struct {
	ran       bool
	at        policy.Time
	least     time.Duration
	restarted bool
}

// NewIntervalChecker checks Δmin, "the minimum time between two successive protected operations on the same component"
// (Ciuffoletti, section 3), across restarts too. What is saved is the time of the grant, not of the start: so the
// interval may be shorter after a restart, by startWithin, the longest time from a grant to its start. Denied runs do
// not count. A run that has not succeeded is repeated retryAfter or more after its end; if retryAfter is zero, it is
// not repeated. Runs for callers beside the operation do not count, nor those that a member has forgotten with all else
// that it had saved.
//
//go:noinline
func NewIntervalChecker(minInterval, retryAfter, startWithin time.Duration) sim.Watcher {
	type runs struct{ last, before started }
	return sim.EachMember(func(me *runs, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.Forgot {
			*me = runs{}
		}
		last := &me.last
		last.restarted = last.restarted || o.Ends()
		switch {
		case !o.EndsOperation():
		case o.Event.Denied:
			me.last, me.before = me.before, started{}
		case last.ran && retryAfter > 0 && o.Event.Outcome != policy.Succeeded:
			last.least = min(minInterval, o.At.Sub(last.at)+retryAfter)
		}
		for range o.Operations() {
			least := last.least
			if last.restarted {
				least -= startWithin
			}
			if last.ran && o.At.Sub(last.at) < least {
				return fmt.Errorf("interval: %s runs %v after its last run, and min_interval is %v", o.Who(),
					o.At.Sub(last.at), last.least)
			}
			me.before, me.last = me.last, started{ran: true, at: o.At, least: minInterval}
		}
		return nil
	})
}
