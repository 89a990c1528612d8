package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// ReadyChecker checks that nobody runs whose host has not said yes: in this life, since the last run, and not longer ago than an answer counts.
type ReadyChecker struct {
	counts time.Duration
	// ran is when the last run of a member ended that was not denied.
	ran map[int]policy.Time
}

// NewReadyChecker returns a checker of one run. counts is how long a yes lasts.
func NewReadyChecker(counts time.Duration) *ReadyChecker {
	return &ReadyChecker{counts: counts, ran: map[int]policy.Time{}}
}

// Watch implements [sim.Watcher].
func (k *ReadyChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped || !c.Asks() {
		return nil
	}
	if o.Event.Kind == policy.Finished && !o.Event.Denied {
		k.ran[o.Member] = o.At
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		said, ran := c.Answered(o.Member), policy.Time(0)
		if at, has := k.ran[o.Member]; has {
			ran = at
		}
		switch who := sim.MemberName(o.Member); {
		case !said.Yes:
			return fmt.Errorf("ready: %s runs, and its host has not said that it is ready", who)
		case said.At < ran:
			return fmt.Errorf("ready: %s runs again, and its host has said yes for the last run", who)
		case o.At.Sub(said.At) > k.counts:
			return fmt.Errorf("ready: %s runs, and its host has said yes %v ago", who, o.At.Sub(said.At))
		}
	}
	return nil
}
