package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// TrafficChecker checks that a member never sends more than a number of datagrams in a time, whatever goes wrong.
type TrafficChecker struct {
	while time.Duration
	most  int
	since map[int]policy.Time
	sent  map[int]int
}

// NewTrafficChecker returns a checker of one run: a member may send most datagrams within while.
func NewTrafficChecker(most int, while time.Duration) *TrafficChecker {
	return &TrafficChecker{while: while, most: most, since: map[int]policy.Time{}, sent: map[int]int{}}
}

// Watch implements [sim.Watcher].
func (k *TrafficChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.At.Sub(k.since[o.Member]) >= k.while {
		k.since[o.Member], k.sent[o.Member] = o.At, 0
	}
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Send {
			k.sent[o.Member]++
		}
	}
	if k.sent[o.Member] > k.most {
		return fmt.Errorf("traffic: %s sends %d datagrams in %v", sim.MemberName(o.Member), k.sent[o.Member], k.while)
	}
	return nil
}
