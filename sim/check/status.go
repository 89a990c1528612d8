package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// someLooks is for how many tokens that come or go the checker looks once at what operators see: that takes long.
const someLooks = 32

// NewStatusChecker checks what operators see of a member. One that holds a token names itself as the holder; and it
// knows when its own operation last began: no earlier than startWithin before it really did. It tells no soak that is
// over, or of a token that is gone, and no failures if there are none.
func NewStatusChecker(startWithin time.Duration) sim.Watcher {
	// ranAt is when the own operation of a member last began in this life, if ran is true.
	type operation struct {
		ran   bool
		ranAt policy.Time
	}
	var facts []policy.Fact
	looks := 0
	return sim.EachLife(func(me *operation, c *sim.Cluster, o *sim.Occurrence) error {
		me.ran = me.ran && !(o.On(policy.Finished) && o.Event.Denied)
		moves := 0
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Run && !e.Demanded:
				me.ran, me.ranAt = true, c.Instant(o.Member).Time
			case e.Kind == policy.Took, e.Kind == policy.Gave:
				moves = 1
			}
		}
		if looks += moves; moves == 0 || looks%someLooks != 0 || !o.Completes() {
			return nil
		}
		m, now := c.Machine(o.Member), c.Instant(o.Member).Time
		facts = m.Facts(now, facts[:0])
		for i := range facts {
			f := &facts[i]
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
	})
}
