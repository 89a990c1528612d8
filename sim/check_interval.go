package sim

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// IntervalChecker holds Δmin, "the minimum time between two successive protected operations on the same component"
// (Ciuffoletti, section 3), over crashes and restarts too.
type IntervalChecker struct {
	least time.Duration
	last  map[int]policy.Time
}

// NewIntervalChecker returns a checker of one run with the given min_interval.
func NewIntervalChecker(minInterval time.Duration) *IntervalChecker {
	return &IntervalChecker{least: minInterval, last: map[int]policy.Time{}}
}

// Watch checks one step.
func (k *IntervalChecker) Watch(_ *Cluster, o *Occurrence) error {
	if o.Kind != Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		if last, ok := k.last[o.Member]; ok && o.At.Sub(last) < k.least {
			return fmt.Errorf("interval: %s runs %v after its last run, and min_interval is %v",
				MemberName(o.Member), o.At.Sub(last), k.least)
		}
		k.last[o.Member] = o.At
	}
	return nil
}
