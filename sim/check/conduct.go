package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// conduct is what a member has done in a life.
type conduct struct {
	announced, running, stopped bool
	// kept is the token, with the number of the grant, that it has saved as its own last; zero if there is none.
	kept wire.Ref
}

// NewConductChecker checks what a member does once, or at once. It announces itself once in a life, however many tokens
// there are. If it is to leave, it stops its run. If it gives up a token whose grant is kept on its disk, it forgets
// that there, too: else it would come back with it. And if an operator asks it for a new token, it makes one, or knows
// of one.
func NewConductChecker() sim.Watcher {
	return sim.EachLife(func(me *conduct, c *sim.Cluster, o *sim.Occurrence) error {
		wasRunning := me.running
		if o.EndsRun() {
			me.running = false
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Announce && me.announced:
				return fmt.Errorf("conduct: %s announces itself again", o.Who())
			case e.Kind == policy.Announce:
				me.announced = true
			case e.Kind == policy.Stop:
				me.stopped = true
			case e.Kind == policy.Run:
				me.running, me.stopped = true, false
			case e.Kind == policy.Save && e.State.Kept.Holder == c.ID(o.Member):
				me.kept = e.State.Kept.Token
			case e.Kind == policy.Save:
				me.kept = wire.Ref{}
			}
		}
		switch {
		case !o.Completes():
		case wasRunning && !me.stopped && o.On(policy.Leave):
			return fmt.Errorf("conduct: %s is to leave, and lets its run go on", o.Who())
		case me.kept.Seq > 0 && gives(o, me.kept):
			return fmt.Errorf("conduct: %s gives %v up, and its disk keeps the grant", o.Who(), me.kept)
		case o.On(policy.Renew):
			r, ok := c.Machine(o.Member).(policy.Renewable)
			if ok && r.Knows(int(o.Event.Slot), c.Instant(o.Member).Time) == "" {
				return fmt.Errorf("conduct: %s is asked for a new token, knows of none, and makes none", o.Who())
			}
		}
		return nil
	})
}

// gives reports whether a token with that number is given up.
func gives(o *sim.Occurrence, token wire.Ref) bool {
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Gave && e.Token == token {
			return true
		}
	}
	return false
}
