package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
)

// NewHeartbeatChecker checks that a holder keeps its guardians calm, whatever else it waits for: it sends heartbeats at
// least twice in a patience, or asks the guardians, unless it was stopped meanwhile.
func NewHeartbeatChecker(patience time.Duration) sim.Watcher {
	// since is when a holder last wrote to its guardians, or came back from a stop.
	type holder struct {
		holds bool
		since policy.Time
	}
	return sim.EachLife(func(me *holder, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind == sim.Paused || o.Kind == sim.Slept {
			me.since = c.AwayUntil(o.Member)
		}
		if !o.Completes() {
			return nil
		}
		if silent := o.At.Sub(me.since); me.holds && silent > patience/2 {
			return fmt.Errorf("heartbeat: %s holds a token, and its guardians have heard nothing for %v", o.Who(),
				silent)
		}
		held := me.holds
		if me.holds = guarded(c, o.Member); me.holds && (!held || writes(o)) {
			me.since = max(o.At, me.since)
		}
		return nil
	})
}

func writes(o *sim.Occurrence) bool {
	for e := range o.Did(policy.Send) {
		if e.Msg.Kind == guardian.KindHeartbeat || e.Msg.Kind == guardian.KindAsk {
			return true
		}
	}
	return false
}
