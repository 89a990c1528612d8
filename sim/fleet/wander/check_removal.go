package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// RemovalChecker checks that of two tokens the older survives. A member removes a token only for one that precedes it:
//
//  1. the token under which it ran less than min_interval ago,
//  2. the token that it holds,
//  3. a token that it passed on after the younger one was made,
//  4. in a walk that goes round, a token that it passed on less than a lap ago,
//  5. a token that it passed on to the sender of the younger one while that was under way.
//
// It must remove the younger one in cases 1 and 2, and in cases 3 and 5 if the older token is the oldest that it has passed on.
type RemovalChecker struct {
	minInterval, lap, timeout time.Duration
	// last is the token of a member's last run, before that of the run before; running says that it still runs.
	last, before map[int]sighting
	running      map[int]bool
	// passed is when a member last passed on each token, and to whom.
	passed map[int]map[wire.TokenID]round
	// born is when each token was made.
	born map[wire.TokenID]policy.Time
}

// round is a token's last departure from a member. It has faded if another token left after this one was away for max_interval.
type round struct {
	at    policy.Time
	to    wire.MemberID
	faded bool
}

// sighting is a token, and when a member ran under it.
type sighting struct {
	at    policy.Time
	token wire.TokenID
}

// precedes reports whether the token of s precedes another one and was seen within the last while.
func (s sighting) precedes(id wire.TokenID, now policy.Time, while time.Duration) bool {
	return !s.token.IsZero() && now.Sub(s.at) < while && s.token.Precedes(id)
}

// NewRemovalChecker returns a checker of one run. For a lap after it was passed on, a token removes younger ones: zero where the walk
// does not go round, negative in the plain paper. A handoff takes less than timeout.
func NewRemovalChecker(minInterval, lap, timeout time.Duration) *RemovalChecker {
	return &RemovalChecker{
		minInterval: minInterval, lap: lap, timeout: timeout, last: map[int]sighting{}, before: map[int]sighting{},
		running: map[int]bool{}, passed: map[int]map[wire.TokenID]round{},
		born: map[wire.TokenID]policy.Time{},
	}
}

// Watch implements [sim.Watcher].
func (k *RemovalChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.passed, o.Member)
		delete(k.running, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	k.event(c, o)
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Took && e.Cause == policy.CauseMade {
			k.born[e.Token.ID] = o.At
		}
		if e.Kind == policy.Gave && e.Cause == policy.CauseRemoved {
			if !k.removes(o, e.Token.ID) && !k.chases(c, o, e.Token.ID) {
				return fmt.Errorf("removal: %s removes %v and has run under no older token in the last %v",
					sim.MemberName(o.Member), e.Token.ID, k.minInterval)
			}
		}
	}
	if o.Completes() {
		s := Detail(c, o.Member)
		if err := k.survivor(o, &s); err != nil {
			return err
		}
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Run:
			k.before[o.Member], k.running[o.Member] = k.last[o.Member], true
			k.last[o.Member] = sighting{at: o.At, token: e.Token.ID}
		case e.Kind == policy.Save && k.running[o.Member] && e.State.LastRun == k.last[o.Member].at:
			// The run goes on under an older token.
			k.last[o.Member] = sighting{at: e.State.LastRun, token: wander.MemoOf(&e.State.Memo).Token}
		case e.Kind == policy.Gave && e.Cause == policy.CausePassed:
			k.pass(c, o, e.Token.ID, e.Peer)
		}
	}
	return nil
}

// event records what a member knows of its last run at its start, and the end of a run. A denied run does not count.
func (k *RemovalChecker) event(c *sim.Cluster, o *sim.Occurrence) {
	s := &o.Event.State
	ran := wander.MemoOf(&s.Memo)
	switch {
	case o.Event.Kind == policy.Started && s.HasRun && int(ran.Slot) == c.Slot():
		k.last[o.Member] = sighting{at: s.LastRun, token: ran.Token}
	case o.Event.Kind == policy.Started:
		delete(k.last, o.Member) // What was saved is of another slot, and this one forgets.
	case o.Event.Kind == policy.Finished && k.running[o.Member]:
		delete(k.running, o.Member)
		if o.Event.Denied {
			k.last[o.Member] = k.before[o.Member]
		}
	}
}

// removes reports whether the removal rule of the paper applies to a token at a member.
func (k *RemovalChecker) removes(o *sim.Occurrence, id wire.TokenID) bool {
	return k.last[o.Member].precedes(id, o.At, k.minInterval)
}

// pass records that a token leaves a member. The member may forget tokens that it has not seen for max_interval as it is now.
func (k *RemovalChecker) pass(c *sim.Cluster, o *sim.Occurrence, id wire.TokenID, to wire.MemberID) {
	rounds := k.passed[o.Member]
	if rounds == nil {
		rounds = map[wire.TokenID]round{}
		k.passed[o.Member] = rounds
	}
	most := Detail(c, o.Member).MaxInterval
	for other, r := range rounds {
		r.faded = r.faded || o.At.Sub(r.at) >= most
		rounds[other] = r
	}
	rounds[id] = round{at: o.At, to: to}
}

// chases reports whether case 3, 4 or 5 applies to a token.
func (k *RemovalChecker) chases(c *sim.Cluster, o *sim.Occurrence, id wire.TokenID) bool {
	lap := max(k.lap, Detail(c, o.Member).Lap)
	for older, r := range k.passed[o.Member] {
		chases := k.lap > 0 && o.At.Sub(r.at) < lap
		together := k.lap >= 0 && r.at > k.born[id]
		crosses := o.Event.Kind == policy.Received && r.to == o.Event.Msg.From && o.At.Sub(r.at) < k.handoff(c, o)
		if older.Precedes(id) && (chases || together || crosses) {
			return true
		}
	}
	return false
}

// handoff is the longest time of a handoff at a member: longer where round trips are longer.
func (k *RemovalChecker) handoff(c *sim.Cluster, o *sim.Occurrence) time.Duration {
	return max(k.timeout, 2*Detail(c, o.Member).RoundTrip)
}

// oldest returns the oldest token that a member has passed on, and its last pass; a zero one if there is none.
func (k *RemovalChecker) oldest(member int) (id wire.TokenID, last round) {
	for passed := range k.passed[member] {
		if id.IsZero() || passed.Precedes(id) {
			id = passed
		}
	}
	return id, k.passed[member][id]
}

// crosses reports whether the oldest token that a member has passed on went to the sender of this one just now.
func (k *RemovalChecker) crosses(o *sim.Occurrence, id wire.TokenID) bool {
	oldest, r := k.oldest(o.Member)
	return oldest.Precedes(id) && !oldest.IsZero() && r.to == o.Event.Msg.From && o.At.Sub(r.at) < k.timeout
}

// together reports whether case 3 applies to the oldest token that a member has passed on, by the age of the younger one. A member may forget
// a token that it has not seen for max_interval.
func (k *RemovalChecker) together(o *sim.Occurrence, s *wander.Detail) bool {
	oldest, r := k.oldest(o.Member)
	since := o.At.Sub(r.at)
	return k.lap >= 0 && !oldest.IsZero() && oldest.Precedes(s.Token.ID) && since < wander.AgeOf(&s.Load) && since < s.MaxInterval && !r.faded
}

// survivor checks the token that is left after a step in which one arrived or met another.
func (k *RemovalChecker) survivor(o *sim.Occurrence, s *wander.Detail) error {
	who := sim.MemberName(o.Member)
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Gave && e.Cause == policy.CauseMet {
			if !s.Holding || !s.Token.ID.Precedes(e.Token.ID) {
				return fmt.Errorf("removal: %s discards %v for a younger token", who, e.Token.ID)
			}
		}
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		arrived := e.Kind == policy.Took && e.Cause == policy.CauseReceived && keeps(o, i)
		if arrived && s.Holding && s.Token.ID == e.Token.ID && k.removes(o, e.Token.ID) {
			return fmt.Errorf("removal: %s keeps %v and ran under an older token less than %v ago", who, e.Token.ID, k.minInterval)
		}
		if arrived && s.Holding && s.Token.ID == e.Token.ID && k.crosses(o, e.Token.ID) {
			return fmt.Errorf("removal: %s keeps %v, and has just passed an older token on to where it comes from", who, e.Token.ID)
		}
		if arrived && s.Holding && s.Token.ID == e.Token.ID && k.together(o, s) {
			return fmt.Errorf("removal: %s keeps %v, and an older one has been there since it was made", who, e.Token.ID)
		}
	}
	return nil
}

// keeps reports whether the token that effect i took was kept.
func keeps(o *sim.Occurrence, i int) bool {
	return i+1 == len(o.Effects) || o.Effects[i+1].Kind != policy.Gave
}
