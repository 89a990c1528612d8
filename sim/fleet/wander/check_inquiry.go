package wander

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// inquiry is when a member last began to ask, when it last asked, and the latest sighting that it was told; zero if
// there is none.
type inquiry struct {
	began, asked, seen policy.Time
	// rank is the member's place among those that it sees. company is true if it sees others.
	rank    int
	company bool
	// silent are the others that the member has seen all the time since it began to ask, and that have not answered,
	// each with how often it was asked.
	silent map[wire.MemberID]int
	// there are all others that it has seen all the time since then.
	there map[wire.MemberID]bool
	peers []wire.MemberID
}

// asksAtLeast is how often a member that does not answer is asked before a token is made.
const asksAtLeast = 6

// NewInquiryChecker checks that no member makes a token only because it has met none. Where tokens have guardians, the
// member asks all others first, several times if they do not answer, and makes no token if one of them has seen a token
// less than regenerate-after ago. And only the first in rank makes the first token of a fleet without asking. wait is
// how long a member waits for answers. guarded is true if tokens have guardians.
func NewInquiryChecker(wait time.Duration, guarded bool) sim.Watcher {
	return sim.EachLife(func(me *inquiry, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.PeersChanged) {
			me.peers = o.Event.Peers
			me.company = len(me.peers) > 1
			me.rank = slices.Index(me.peers, c.ID(o.Member))
			maps.DeleteFunc(me.silent, func(id wire.MemberID, _ int) bool { return !slices.Contains(me.peers, id) })
			maps.DeleteFunc(me.there, func(id wire.MemberID, _ bool) bool { return !slices.Contains(me.peers, id) })
		}
		if s, ok := c.Machine(o.Member).(policy.Slotted); ok && s.Slots() <= c.Slot() {
			me.seen = 0 // This token is not in use here. When it is again, it is that of a fleet that starts.
		}
		if o.On(policy.Received) && o.Expected && (o.Event.Msg.Kind == wander.KindSeen ||
			o.Event.Msg.Kind == wander.KindUnseen) {
			delete(me.silent, o.Event.Msg.From)
			if o.Event.Msg.Kind == wander.KindSeen {
				// A sighting counts from the question: the answer of a distant member may have taken long.
				me.seen = max(me.seen, me.began.Add(-time.Duration(o.Event.Msg.Nonce)))
			}
		}
		for i := range o.Effects {
			e := &o.Effects[i]
			switch {
			case o.Kind != sim.Stepped:
			case e.Kind == policy.Send && e.Msg.Kind == wander.KindInquiry:
				me.asked = o.At
				if n, silent := me.silent[e.Msg.To]; silent {
					me.silent[e.Msg.To] = n + 1
				}
			case e.Kind != policy.Tell:
			case e.Note == wander.NoteInquired:
				me.begin(c.ID(o.Member), o.At)
			case e.Note == wander.NoteCreated && me.company && me.rank > 0, e.Note == wander.NoteRegenerated &&
				me.company && guarded:
				if err := me.hasAsked(c, o, wait); err != nil {
					return err
				}
			}
			if e.Kind != policy.Tell || e.Note != wander.NoteRegenerated || !me.company || !guarded {
				continue
			}
			for id, n := range me.silent {
				if n < asksAtLeast {
					return fmt.Errorf("inquiry: %s makes a token, and has asked %v, which has not answered, %d times",
						o.Who(), id, n)
				}
			}
			if o.Completes() && me.seen > 0 {
				// The status shows the next value, which has been raised by half.
				after := Detail(c, o.Member).RegenerateAfter * 2 / 3
				if told := o.At.Sub(me.seen); told < after-time.Microsecond {
					return fmt.Errorf("inquiry: %s makes a token and was told of one %v ago", o.Who(), told)
				}
			}
		}
		return nil
	})
}

// begin records that a member begins to ask all members that it sees.
func (me *inquiry) begin(self wire.MemberID, at policy.Time) {
	me.began, me.silent, me.there = at, map[wire.MemberID]int{}, map[wire.MemberID]bool{}
	for _, id := range me.peers {
		if id != self {
			me.silent[id], me.there[id] = 0, true
		}
	}
}

// hasAsked checks that a member has asked and waited, longer where round trips are longer, and that it last asked not
// long ago, if another one was there all the time. Who comes into view while it waits is not asked.
func (me *inquiry) hasAsked(c *sim.Cluster, o *sim.Occurrence, wait time.Duration) error {
	longest := 2 * max(wait, Detail(c, o.Member).RoundTrip*3/2)
	asked := me.asked
	if len(me.there) == 0 {
		asked = max(asked, me.began) // There was nobody to ask.
	}
	if me.began == 0 || o.At.Sub(me.began) < wait || o.At.Sub(asked) >= longest {
		return fmt.Errorf("inquiry: %s makes a token and has not asked, or not waited for the answers", o.Who())
	}
	return nil
}

// certain is what a member must know to call a token certainly lost: when it last asked, which members it sees, when
// the others left its view, and which members have answered since it asked.
type certain struct {
	asked    policy.Time
	view     []wire.MemberID
	left     map[wire.MemberID]policy.Time
	answered map[wire.MemberID]bool
}

// NewCertainChecker checks the rule of certain loss. A member makes a token before its silence is over only if
//
//   - all others that it sees have answered since it began to ask,
//   - these are more than half of all members that it has seen within max_interval in this life,
//   - none of them holds or guards a token, and none runs under one. A run under another slot's does not matter.
//
// cut is true if the network may be parted or broken: then a member may hold a token of which the others that guard it
// do not hear, and only the first two conditions are checked.
//
//go:noinline
func NewCertainChecker(cut bool) sim.Watcher {
	judge := sim.EachLife(func(me *certain, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.PeersChanged) {
			me.see(o)
		}
		if o.On(policy.Received) && o.Expected &&
			(o.Event.Msg.Kind == wander.KindSeen || o.Event.Msg.Kind == wander.KindUnseen) {
			me.answered[o.Event.Msg.From] = true
		}
		if o.Kind != sim.Stepped {
			return nil
		}
		for e := range o.Did(policy.Tell) {
			if e.Note == wander.NoteReplaced {
				return me.replaces(c, o, cut)
			}
			if e.Note == wander.NoteInquired {
				me.asked, me.answered = o.At, map[wire.MemberID]bool{}
			}
		}
		return nil
	})
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		cut = cut || o.Kind == sim.Cut
		return judge.Watch(c, o)
	})
}

// see takes another view.
func (me *certain) see(o *sim.Occurrence) {
	if me.left == nil {
		me.left = map[wire.MemberID]policy.Time{}
	}
	for _, id := range me.view {
		if !slices.Contains(o.Event.Peers, id) {
			me.left[id] = o.At
		}
	}
	for _, id := range o.Event.Peers {
		delete(me.left, id)
	}
	me.view = o.Event.Peers
}

func (me *certain) replaces(c *sim.Cluster, o *sim.Occurrence, cut bool) error {
	gone := 0
	for _, at := range me.left {
		if o.At.Sub(at) < Detail(c, o.Member).MaxInterval-time.Microsecond {
			gone++
		}
	}
	if 2*len(me.view) <= len(me.view)+gone {
		return fmt.Errorf("certain: %s makes a token, sees %d members and has seen %d more", o.Who(), len(me.view),
			gone)
	}
	for _, id := range me.view {
		i := sim.IndexOf(id)
		if i == o.Member {
			continue
		}
		if !me.answered[id] {
			return fmt.Errorf("certain: %s makes a token, and %v has not answered", o.Who(), id)
		}
		if d := Detail(c, i); !cut && c.Up(i) && (d.Holding || d.Keeps || d.Phase == "running") {
			return fmt.Errorf("certain: %s makes a token, and %v holds or guards one, or runs", o.Who(), id)
		}
	}
	return nil
}

// isCut reports whether members may hold tokens of which the members of a majority cannot know: the network may be
// parted or broken, a holder that was paused may have left their views, or an operator may ask for a second token.
func (s *Scenario) isCut() bool {
	f := &s.Faults
	return s.Network.Broken > 0 || f.CutEvery > 0 || f.DeafEvery > 0 || f.Partition != (sim.Partition{}) ||
		f.RenewEvery > 0 || f.PauseEvery > 0 || s.someStay()
}
