package wander

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// inquiry is when a member last asked, and the latest sighting that it was told; zero if there is none.
type inquiry struct {
	asked, seen policy.Time
	// rank is its place among those that it sees; company says that it sees others.
	rank    int
	company bool
}

// NewInquiryChecker checks that no member makes a token for its own silence only. Where tokens have guardians, it asks others first, waits
// for their answers, and makes none if one of them has seen a token less than regenerate-after ago. And only the first in rank makes
// the first token of a fleet without asking. A member waits for answers for wait; guarded says that tokens have guardians.
func NewInquiryChecker(wait time.Duration, guarded bool) sim.Watcher {
	return sim.EachLife(func(me *inquiry, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.PeersChanged) {
			me.company = len(o.Event.Peers) > 1
			me.rank = slices.Index(o.Event.Peers, c.ID(o.Member))
		}
		if o.On(policy.Received) && o.Event.Msg.Kind == wander.KindSeen && o.Expected {
			me.seen = max(me.seen, o.At.Add(-time.Duration(o.Event.Msg.Nonce)))
		}
		for e := range o.Did(policy.Tell) {
			switch {
			case e.Note == wander.NoteInquired:
				me.asked = o.At
			case e.Note == wander.NoteMinted && me.company && me.rank > 0, e.Note == wander.NoteRegenerated && me.company && guarded:
				if err := me.hasAsked(c, o, wait); err != nil {
					return err
				}
			}
			if e.Note == wander.NoteRegenerated && me.company && guarded && o.Completes() && me.seen > 0 {
				// The status has the next value, raised by half.
				after := Detail(c, o.Member).RegenerateAfter * 2 / 3
				if told := o.At.Sub(me.seen); told < after-time.Microsecond {
					return fmt.Errorf("inquiry: %s makes a token and was told of one %v ago", o.Who(), told)
				}
			}
		}
		return nil
	})
}

// hasAsked checks that a member has asked and waited, longer where round trips are longer, and that this was not long ago.
func (me *inquiry) hasAsked(c *sim.Cluster, o *sim.Occurrence, wait time.Duration) error {
	longest := 2 * max(wait, Detail(c, o.Member).RoundTrip*3/2)
	if since := o.At.Sub(me.asked); me.asked == 0 || since < wait || since >= longest {
		return fmt.Errorf("inquiry: %s makes a token and has not asked, or not waited for the answers", o.Who())
	}
	return nil
}
