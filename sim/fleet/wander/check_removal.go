package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// removal is the state of [NewRemovalChecker]. born is when each token was made.
type removal struct {
	minInterval, lap, timeout time.Duration
	born                      map[wire.TokenID]policy.Time
}

// tokensMet are the tokens that a member has had.
type tokensMet struct {
	// last is the token of the member's last run, before that of the run before it. running is true while the last run
	// goes on.
	last, before sighting
	running      bool
	// leaving is true while the member is about to stop.
	leaving bool
	// passed is when the member last passed on each token, and to which member.
	passed map[wire.TokenID]round
}

// round is a token's last departure from a member. It has faded if another token left after this one was away for
// max_interval.
type round struct {
	at    policy.Time
	to    wire.MemberID
	faded bool
}

// sighting is a token, and when a member ran under it. If that was in an earlier life, it also has how many members
// were here then.
type sighting struct {
	at       policy.Time
	token    wire.TokenID
	restored bool
	members  int
}

// NewRemovalChecker checks that of two tokens the older survives. A member removes a token only for one that precedes
// it:
//
//  1. the token under which it ran less than min_interval ago; but no first token for a run in an earlier life, and no
//     renewed one for a run before it was made,
//  2. the token that it holds,
//  3. a token that it passed on after the younger one was made,
//  4. in a walk that goes round, a token that it passed on less than a lap ago,
//  5. a token that it passed on to the sender of the younger one while that was under way.
//
// It must remove the younger one in cases 1 and 2, and in cases 3 and 5 if the older token is the oldest that it has
// passed on, and has not faded. If a first token comes less than min_interval after a run in an earlier life, it is not
// passed on until more than half of the members of that time are here again.
//
// lap is how long after it was passed on a token removes younger ones: zero where the walk does not go round, negative
// in the plain paper. A handoff takes less than timeout.
func NewRemovalChecker(minInterval, lap, timeout time.Duration) sim.Watcher {
	k := &removal{minInterval: minInterval, lap: lap, timeout: timeout, born: map[wire.TokenID]policy.Time{}}
	return sim.EachMember(func(me *tokensMet, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Ends() {
			me.passed, me.running, me.leaving = nil, false, false
		}
		if o.Kind != sim.Stepped {
			return nil
		}
		if several, is := c.Machine(o.Member).(policy.Slotted); is && several.Slots() <= c.Slot() {
			*me = tokensMet{} // Its slot was one too many, and starts without a past when it comes back.
			return nil
		}
		me.event(c, o)
		me.leaving = me.leaving || o.On(policy.Leave)
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Took && e.Cause == policy.CauseMade:
				k.born[e.Token.ID] = o.At
			case e.Note == handoff.NoteOffered && k.shelves(me, c, o, e.Token.ID) && !me.leaving:
				return fmt.Errorf("removal: %s passes %v on, and the token of its last run may live with those that "+
					"it does not see", o.Who(), e.Token.ID)
			case e.Kind == policy.Gave && e.Cause == policy.CauseRemoved && !k.removes(me, o, e.Token.ID) &&
				!k.chases(me, c, o, e.Token.ID):
				return fmt.Errorf("removal: %s removes %v and has run under no older token in the last %v", o.Who(),
					e.Token.ID, minInterval)
			}
		}
		if o.Completes() {
			s := Detail(c, o.Member)
			if err := k.survivor(me, o, &s); err != nil {
				return err
			}
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Run && !e.Demanded:
				me.before, me.last, me.running = me.last, sighting{at: o.At, token: e.Token.ID}, true
			case e.Kind == policy.Save && me.running && e.State.LastRun == me.last.at:
				// The run goes on, now under an older token.
				me.last.token = soft.MemoOf(&e.State.Memo).Token
			case e.Kind == policy.Gave && e.Cause == policy.CausePassed:
				me.pass(c, o, e.Token.ID, e.Peer)
			}
		}
		return nil
	})
}

// event records, when a member starts, what it knows of its last run, and when a run ends. Denied runs do not count.
func (me *tokensMet) event(c *sim.Cluster, o *sim.Occurrence) {
	s := &o.Event.State
	ran := soft.MemoOf(&s.Memo)
	switch {
	case o.On(policy.Started) && s.HasRun && int(ran.Slot) == c.Slot():
		me.last = sighting{at: s.LastRun, token: ran.Token, restored: true, members: int(ran.Members)}
	case o.On(policy.Started):
		me.last = sighting{} // The saved run is of another slot, and this slot forgets its own.
	case o.EndsOperation() && me.running:
		me.running = false
		if o.Event.Denied {
			me.last = me.before
		}
	}
}

// pass records that a token leaves a member. The member may forget tokens that it has not seen for the present
// max_interval.
func (me *tokensMet) pass(c *sim.Cluster, o *sim.Occurrence, id wire.TokenID, to wire.MemberID) {
	if me.passed == nil {
		me.passed = map[wire.TokenID]round{}
	}
	most := Detail(c, o.Member).MaxInterval
	for other, r := range me.passed {
		r.faded = r.faded || o.At.Sub(r.at) >= most
		me.passed[other] = r
	}
	me.passed[id] = round{at: o.At, to: to}
}

// removes reports whether the removal rule of the paper applies to a token at a member.
func (k *removal) removes(me *tokensMet, o *sim.Occurrence, id wire.TokenID) bool {
	before := wander.IsRenewed(id) && me.last.at < k.born[id]
	return k.ranUnderOlder(me, o, id) && !before && !(me.last.restored && wander.IsFirst(id))
}

func (k *removal) ranUnderOlder(me *tokensMet, o *sim.Occurrence, id wire.TokenID) bool {
	return !me.last.token.IsZero() && o.At.Sub(me.last.at) < k.minInterval && me.last.token.Precedes(id)
}

// shelves reports whether a member must not yet pass on a first token.
func (k *removal) shelves(me *tokensMet, c *sim.Cluster, o *sim.Occurrence, id wire.TokenID) bool {
	others := id.Generator != c.ID(o.Member)
	return k.ranUnderOlder(me, o, id) && me.last.restored && wander.IsFirst(id) && others &&
		2*len(c.View(o.Member)) <= me.last.members
}

// chases reports whether case 3, 4 or 5 applies to a token. Handoffs take longer where round trips are longer.
func (k *removal) chases(me *tokensMet, c *sim.Cluster, o *sim.Occurrence, id wire.TokenID) bool {
	s := Detail(c, o.Member)
	lap, handoff := max(k.lap, s.Lap), max(k.timeout, 2*s.RoundTrip)
	for older, r := range me.passed {
		chases := k.lap > 0 && o.At.Sub(r.at) < lap
		together := k.lap >= 0 && r.at > k.born[id]
		crosses := o.On(policy.Received) && r.to == o.Event.Msg.From && o.At.Sub(r.at) < handoff
		if older.Precedes(id) && (chases || together || crosses) {
			return true
		}
	}
	return false
}

// oldest returns the oldest token that a member has passed on, and when it last did. It is zero if there is none.
func (me *tokensMet) oldest() (id wire.TokenID, last round) {
	for passed := range me.passed {
		if id.IsZero() || passed.Precedes(id) {
			id = passed
		}
	}
	return id, me.passed[id]
}

// survivor checks which token is left after a step in which one arrived or met another.
func (k *removal) survivor(me *tokensMet, o *sim.Occurrence, s *wander.Detail) error {
	for e := range o.Did(policy.Gave) {
		if e.Cause == policy.CauseMet && (!s.Holding || !s.Token.ID.Precedes(e.Token.ID)) {
			return fmt.Errorf("removal: %s discards %v for a younger token", o.Who(), e.Token.ID)
		}
	}
	for i := range o.Effects {
		e, discarded := &o.Effects[i], i+1 < len(o.Effects) && o.Effects[i+1].Kind == policy.Gave
		if e.Kind != policy.Took || e.Cause != policy.CauseReceived || discarded || !s.Holding ||
			s.Token.ID != e.Token.ID {
			continue
		}
		oldest, r := me.oldest()
		since, preceded := o.At.Sub(r.at), !oldest.IsZero() && oldest.Precedes(e.Token.ID)
		switch {
		case k.removes(me, o, e.Token.ID) && !(wander.IsRenewed(e.Token.ID) &&
			o.At.Sub(me.last.at) >= wander.AgeOf(&s.Load)):
			return fmt.Errorf("removal: %s keeps %v and ran under an older token less than %v ago", o.Who(), e.Token.ID,
				k.minInterval)
		case preceded && r.to == o.Event.Msg.From && since < k.timeout && !r.faded:
			return fmt.Errorf("removal: %s keeps %v, and has just passed an older token on to where it comes from",
				o.Who(), e.Token.ID)
		// By the age of the younger token.
		case preceded && k.lap >= 0 && since < wander.AgeOf(&s.Load) && since < s.MaxInterval && !r.faded:
			return fmt.Errorf("removal: %s keeps %v, and an older one has been there since it was made", o.Who(),
				e.Token.ID)
		}
	}
	return nil
}
