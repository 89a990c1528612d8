package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// grants is the state of a member: whether it runs or is leaving, and the token that it has made or revived and has not
// saved.
type grants struct {
	running, leaving bool
	made             wire.Ref
	madeAt           policy.Time
}

// NewGrantChecker checks that there is no run without a grant. A member runs its operation only under a token that it
// holds, one run at a time, not while it is leaving, and no later than startWithin after the grant. The run must be on
// its disk before it starts, so that a crash cannot make the member forget it; of a run for a caller beside an
// operation only the number must be. And no member offers a token that it has made or revived before the number is on
// the disk, unless the save takes too long.
func NewGrantChecker(startWithin time.Duration) sim.Watcher {
	return sim.EachLife(func(me *grants, c *sim.Cluster, o *sim.Occurrence) error {
		me.running = me.running && !o.On(policy.Finished)
		me.leaving = me.leaving || o.On(policy.Leave)
		if o.On(policy.Saved) {
			me.made = wire.Ref{}
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Run:
				if err := me.grant(c, o, e, startWithin); err != nil {
					return err
				}
			case e.Kind == policy.Took && e.Cause != policy.CauseReceived && e.Cause != policy.CauseKept:
				me.made, me.madeAt = e.Token, o.At
			case e.Kind == policy.Send && c.Descriptor().Kinds.Part(e.Msg.Kind) == policy.Offers:
				t := e.Msg.Token
				if !t.ID.IsZero() && me.made.ID == t.ID && me.made.Seq == t.Seq && o.At.Sub(me.madeAt) < startWithin {
					return fmt.Errorf("grant: %s offers %v#%d before it has saved the number", o.Who(), t.ID, t.Seq)
				}
			}
		}
		return nil
	})
}

func (me *grants) grant(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect, startWithin time.Duration) error {
	saved, t := c.Disk(o.Member), e.Token
	switch {
	case me.running:
		return fmt.Errorf("grant: %s runs twice at once", o.Who())
	case me.leaving:
		return fmt.Errorf("grant: %s runs while it is leaving", o.Who())
	case !saved.HasRun && !e.Demanded || saved.Seq < t.Seq:
		return fmt.Errorf("grant: %s runs under %v#%d without having saved it", o.Who(), t.ID, t.Seq)
	case e.Demanded && (e.StartBy < o.At || e.StartBy.Sub(o.At) > startWithin):
		return fmt.Errorf("grant: %s runs for a caller at %s, and may start by %v", o.Who(), sim.Seconds(o.At),
			sim.Seconds(e.StartBy))
	case e.Demanded:
	case o.At.Sub(saved.LastRun) > startWithin || e.StartBy < o.At || e.StartBy.Sub(saved.LastRun) > startWithin:
		return fmt.Errorf("grant: %s runs %v after it was granted, and may start by %v",
			o.Who(), o.At.Sub(saved.LastRun), sim.Seconds(e.StartBy))
	}
	if s := c.Status(o.Member); o.Completes() && (!s.Holding || s.Token != t) {
		return fmt.Errorf("grant: %s runs under %v and does not hold it", o.Who(), t.ID)
	}
	me.running = true
	return nil
}
