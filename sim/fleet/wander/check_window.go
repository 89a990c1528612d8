package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/calendar"
)

// NewWindowChecker checks two rules of a gate with windows. A run begins only in a window, or while a start that was
// granted in a window is being saved. And "a member that may not run passes the token on; nobody ever holds and waits
// for a window": outside its windows a token rests at a member for a skip; if the member is due by then, for at most a
// lap of skips or two offers, which last longer after some that failed. A new token rests longer, by as long as a start
// may take; one that is not used, because a host has gone in its soak, until that is over. Once it has been offered it
// does not rest, even if the offer is to a member that has left. Outside of a core that does not hold: a member that
// nobody hears is busy with offers that it accepts in vain. Nor where half of the members are away: a first token may
// not be passed on then, see [NewRemovalChecker]. startWithin is the longest time from a grant to its start.
func NewWindowChecker(windows window.Set, members int, skip, startWithin time.Duration) sim.Watcher {
	hours := calendar.Of(windows)
	most := max(time.Duration(members)*skip, 2*wander.Patience(skip)) + startWithin
	type rest struct {
		rests, unused bool
		since         policy.Time
	}
	return sim.EachMember(func(me *rest, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped {
			me.rests = false // the member may have been away
			me.unused = me.unused && !o.Ends()
		}
		if o.On(policy.PeersChanged) {
			me.since = o.At // a member that was alone has kept its token
		}
		wall := c.Instant(o.Member).Wall
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Run && !hours.Open(wall) && !hours.Open(wall-int64(startWithin)):
				return fmt.Errorf("window: %s runs at %s, outside its windows", o.Who(), sim.Seconds(o.At))
			case e.Kind == policy.Gave, e.Kind == policy.Run:
				me.rests, me.unused = false, false
			case e.Kind != policy.Tell:
			case e.Note == guardian.NoteUnused:
				me.unused = true
			case e.Note == wander.NoteResting:
				me.rests, me.since = !me.unused, o.At
			case e.Note == handoff.NoteOffered:
				kept := o.At.Sub(me.since)
				few := 2*len(c.View(o.Member)) <= members
				if me.rests && o.Due && o.On(policy.Woke) && !hours.Open(wall) && !c.IsOutside(o.Member) && !few &&
					kept > max(most, 2*Detail(c, o.Member).Patience+startWithin) {
					return fmt.Errorf("window: %s kept the token for %v outside its windows", o.Who(), kept)
				}
				me.rests = false
			}
		}
		return nil
	})
}
