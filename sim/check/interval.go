package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// IntervalChecker checks Δmin, "the minimum time between two successive protected operations on the same component"
// (Ciuffoletti, section 3), across restarts too. The time of the grant is saved, not of the start: after a restart the interval may be
// shorter by startWithin. A denied run does not count. A run that has not succeeded is repeated retryAfter after its end or later.
type IntervalChecker struct {
	least, retryAfter, startWithin time.Duration
	last, before                   map[int]started
}

// started is the time of a run, the least time from there to the next, and whether the member was restarted since.
type started struct {
	at        policy.Time
	least     time.Duration
	restarted bool
}

// NewIntervalChecker returns a checker of one run. With a retryAfter of zero no run is repeated. startWithin is the longest time from a grant
// to its start.
func NewIntervalChecker(minInterval, retryAfter, startWithin time.Duration) *IntervalChecker {
	return &IntervalChecker{
		least: minInterval, retryAfter: retryAfter, startWithin: startWithin, last: map[int]started{}, before: map[int]started{},
	}
}

// Watch implements [sim.Watcher].
func (k *IntervalChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if last, ran := k.last[o.Member]; ran && o.Ends() {
		last.restarted = true
		k.last[o.Member] = last
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.Event.Kind == policy.Finished {
		k.finish(o)
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		last, ran := k.last[o.Member]
		least := last.least
		if last.restarted {
			least -= k.startWithin
		}
		if ran && o.At.Sub(last.at) < least {
			return fmt.Errorf("interval: %s runs %v after its last run, and min_interval is %v",
				sim.MemberName(o.Member), o.At.Sub(last.at), last.least)
		}
		delete(k.before, o.Member)
		if ran {
			k.before[o.Member] = last
		}
		k.last[o.Member] = started{at: o.At, least: k.least}
	}
	return nil
}

// finish ends the last run of a member.
func (k *IntervalChecker) finish(o *sim.Occurrence) {
	last, ran := k.last[o.Member]
	switch {
	case o.Event.Denied:
		k.deny(o.Member)
	case ran && k.retryAfter > 0 && o.Event.Outcome != policy.Succeeded:
		last.least = min(k.least, o.At.Sub(last.at)+k.retryAfter)
		k.last[o.Member] = last
	}
}

// deny takes back the last run of a member.
func (k *IntervalChecker) deny(member int) {
	delete(k.last, member)
	if before, ran := k.before[member]; ran {
		k.last[member] = before
	}
}
