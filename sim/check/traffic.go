package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewTrafficChecker checks that no member sends more than most datagrams within while, whatever goes wrong.
//
//go:noinline
func NewTrafficChecker(most int, while time.Duration) sim.Watcher {
	type traffic struct {
		since policy.Time
		sent  int
	}
	return sim.EachMember(func(me *traffic, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.At.Sub(me.since) >= while {
			*me = traffic{since: o.At}
		}
		for range o.Did(policy.Send) {
			me.sent++
		}
		if me.sent > most {
			return fmt.Errorf("traffic: %s sends %d datagrams in %v", o.Who(), me.sent, while)
		}
		return nil
	})
}
