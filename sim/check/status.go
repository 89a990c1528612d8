package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// conduct is what a member has done in a life.
type conduct struct {
	announced, running, stopped, ran bool
	// kept is the token, with the number of the grant, that it has saved as its own last; zero if there is none.
	kept wire.Ref
	// ranAt is when its own operation last began.
	ranAt policy.Time
}

// someLooks is for how many tokens that come or go the checker looks once at what operators see: that takes long.
const someLooks = 32

// NewStatusChecker checks what a member says of itself. A member that holds a token names itself as the holder; and it
// knows when its own operation last began: no earlier than startWithin before it really did. A member announces itself
// once in a life, however many tokens there are. One that is to leave stops its run at once. And one that gives up a
// token whose grant is kept on its disk forgets it there, too: else it would come back with it. What it tells operators
// is no time that is over, no soak of a token that is gone, and no failures of which there are none. And if one asks it
// for a new token, it makes one, or knows of one.
func NewStatusChecker(startWithin time.Duration) sim.Watcher {
	var facts []policy.Fact
	looks := 0
	return sim.EachLife(func(me *conduct, c *sim.Cluster, o *sim.Occurrence) error {
		wasRunning := me.running
		if o.EndsRun() {
			me.running = false
			me.ran = me.ran && !(o.Kind == sim.Stepped && o.Event.Denied)
		}
		moves := false
		for i := range o.Effects {
			switch e := &o.Effects[i]; e.Kind {
			case policy.Announce:
				if me.announced {
					return fmt.Errorf("status: %s announces itself again", o.Who())
				}
				me.announced = true
			case policy.Stop:
				me.stopped = true
			case policy.Save:
				if me.kept = e.State.Kept.Token; e.State.Kept.Holder != c.ID(o.Member) {
					me.kept = wire.Ref{}
				}
			case policy.Run:
				me.running, me.stopped = true, false
				if !e.Demanded {
					me.ran, me.ranAt = true, c.Instant(o.Member).Time
				}
			case policy.Took, policy.Gave:
				moves = true
			case policy.Send, policy.Extend, policy.PreSign, policy.Proclaim, policy.Tell, policy.Gone:
			}
		}
		if !o.Completes() {
			return nil
		}
		if wasRunning && !me.stopped && o.On(policy.Leave) {
			return fmt.Errorf("status: %s is to leave, and lets its run go on", o.Who())
		}
		if o.On(policy.Renew) {
			r, ok := c.Machine(o.Member).(policy.Renewable)
			if slot := int(o.Event.Slot); ok && r.Knows(slot, c.Instant(o.Member).Time) == "" {
				return fmt.Errorf("status: %s is asked for a new token, knows of none, and makes none", o.Who())
			}
		}
		if !moves {
			return nil
		}
		for i := range o.Effects {
			if e := &o.Effects[i]; e.Kind == policy.Gave && e.Token == me.kept {
				return fmt.Errorf("status: %s gives %v up, and its disk keeps the grant", o.Who(), me.kept)
			}
		}
		if looks++; looks%someLooks != 0 {
			return nil
		}
		facts = facts[:0]
		return me.tells(c, o, startWithin, &facts)
	})
}

// tells checks what operators see.
func (me *conduct) tells(c *sim.Cluster, o *sim.Occurrence, startWithin time.Duration, facts *[]policy.Fact) error {
	m, now := c.Machine(o.Member), c.Instant(o.Member).Time
	*facts = m.Facts(now, *facts)
	for i := range *facts {
		f := &(*facts)[i]
		over := f.Key == policy.KeySoakUntil && (f.At <= now || !c.SlotStatus(o.Member, int(f.Slot)).Holding)
		if over || f.Key == policy.KeyRetry && f.Count < 1 {
			return fmt.Errorf("status: at %v, %s tells %+v", now, o.Who(), *f)
		}
	}
	s := m.Status(now)
	switch {
	case s.Holding && s.Holder != c.ID(o.Member):
		return fmt.Errorf("status: %s holds the token, and says that %v does", o.Who(), s.Holder)
	case me.ran && (!s.HasRun || s.LastRun < me.ranAt.Add(-startWithin)):
		return fmt.Errorf("status: %s ran at %v, and says that it last did at %v", o.Who(), me.ranAt, s.LastRun)
	}
	return nil
}
