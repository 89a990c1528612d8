package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// GrantChecker checks that there is no run without a grant. A member runs its operation only under a token that it holds, one run at a
// time, not while it is leaving, not long after the grant, and only when the run is on its disk, so that a crash cannot make it
// forget. And no member offers a token that it has made or revived before the number is on the disk, unless the save takes too long.
type GrantChecker struct {
	startWithin      time.Duration
	running, leaving map[int]bool
	made             map[int]made
}

// made is a token that a member has made or revived and has not saved.
type made struct {
	token wire.Ref
	at    policy.Time
}

// NewGrantChecker returns a checker of one run. startWithin is the longest time from a grant to its start.
func NewGrantChecker(startWithin time.Duration) *GrantChecker {
	return &GrantChecker{startWithin: startWithin, running: map[int]bool{}, leaving: map[int]bool{}, made: map[int]made{}}
}

// Watch implements [sim.Watcher].
func (k *GrantChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.running, o.Member)
		delete(k.leaving, o.Member)
		delete(k.made, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.Event.Kind == policy.Finished {
		delete(k.running, o.Member)
	}
	if o.Event.Kind == policy.Leave {
		k.leaving[o.Member] = true
	}
	if o.Event.Kind == policy.Saved {
		delete(k.made, o.Member)
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		if err := k.effect(c, o, e); err != nil {
			return err
		}
	}
	return nil
}

func (k *GrantChecker) effect(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	switch {
	case e.Kind == policy.Run:
		return k.grant(c, o, e)
	case e.Kind == policy.Took && e.Cause != policy.CauseReceived:
		k.made[o.Member] = made{token: e.Token, at: o.At}
	case e.Kind == policy.Send && c.Family().Kinds.Part(e.Msg.Kind) == policy.Offers:
		m, ok := k.made[o.Member]
		if ok && m.token.ID == e.Msg.Token.ID && m.token.Seq == e.Msg.Token.Seq && o.At.Sub(m.at) < k.startWithin {
			return fmt.Errorf("grant: %s offers %v#%d before it has saved the number", sim.MemberName(o.Member), m.token.ID, m.token.Seq)
		}
	}
	return nil
}

// grant checks one run.
func (k *GrantChecker) grant(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	who, saved, t := sim.MemberName(o.Member), c.Disk(o.Member), e.Token
	switch {
	case k.running[o.Member]:
		return fmt.Errorf("grant: %s runs twice at once", who)
	case k.leaving[o.Member]:
		return fmt.Errorf("grant: %s runs while it is leaving", who)
	case !saved.HasRun || saved.Seq < t.Seq:
		return fmt.Errorf("grant: %s runs under %v#%d without having saved it", who, t.ID, t.Seq)
	case o.At.Sub(saved.LastRun) > k.startWithin || e.StartBy < o.At || e.StartBy.Sub(saved.LastRun) > k.startWithin:
		return fmt.Errorf("grant: %s runs %v after it was granted, and may start by %v", who, o.At.Sub(saved.LastRun), sim.Seconds(e.StartBy))
	}
	if s := c.Status(o.Member); o.Completes() && (!s.Holding || s.Token != t) {
		return fmt.Errorf("grant: %s runs under %v and does not hold it", who, t.ID)
	}
	k.running[o.Member] = true
	return nil
}
