package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// NewDeafChecker checks that a holder that hears nobody gives up its token, as long as there are guardians to take it.
// It does so no later than while after its first offer without an answer. A member that sees nobody is a fleet of one
// and keeps the token. In a gate with several tokens the other tokens may keep the holder busy. The time begins again
// when the member has stood still.
func NewDeafChecker(while time.Duration) sim.Watcher {
	// since is the time of a deaf member's first failed offer.
	type failure struct {
		failed bool
		since  policy.Time
	}
	return sim.EachLife(func(me *failure, c *sim.Cluster, o *sim.Occurrence) error {
		if c.Hears(o.Member) || hearsReplay(o) || o.Kind == sim.Paused || o.Kind == sim.Slept {
			*me = failure{}
		}
		if c.Hears(o.Member) || !o.Completes() {
			return nil
		}
		s := Detail(c, o.Member)
		if !s.Holding || len(c.View(o.Member)) <= 1 || s.Why == wander.WhyRunning || s.Why == wander.WhyAsking ||
			s.Why == wander.WhySaving || !guarded(c, o.Member) {
			*me = failure{}
			return nil
		}
		// Its patience grows with the round trips that it has measured, or seemed to measure while it was deaf before.
		if vain := o.At.Sub(me.since); me.failed && vain > while+4*s.RoundTrip {
			return fmt.Errorf("deaf: %s hears nobody, has offered its token in vain for %v and holds it still", o.Who(),
				vain)
		}
		if !me.failed && tells(o, s.Token.ID, handoff.NoteNoAck) {
			*me = failure{failed: true, since: o.At}
		}
		return nil
	})
}

// hearsReplay reports whether an answer reaches a deaf member all the same: lost on the direct way, it has been played
// back to it in time. It is as good as any answer.
func hearsReplay(o *sim.Occurrence) bool {
	if !o.On(policy.Received) || !o.Expected {
		return false
	}
	kind := o.Event.Msg.Kind
	return kind == handoff.KindAck || kind == guardian.KindKnown || kind == guardian.KindHeard
}

// handoffsTake bounds the duration of a handoff, in timeouts or round trips.
const handoffsTake = 64

// NewSilenceChecker checks that an offer does not end a silence: it delays a new token by no more than the time of a
// handoff, even if an adversary replays recorded offers; and that a holder waits for no silence. timeout is that of
// handoffs.
func NewSilenceChecker(timeout time.Duration) sim.Watcher {
	// at is when a member would make a new token, as of its last step.
	type look struct {
		armed bool
		at    policy.Time
	}
	return sim.EachMember(func(me *look, c *sim.Cluster, o *sim.Occurrence) error {
		was := *me
		*me = look{}
		if !o.Completes() {
			return nil
		}
		s := Detail(c, o.Member)
		*me = look{s.RegenerateArmed, s.RegenerateAt}
		if s.Holding && s.RegenerateArmed {
			return fmt.Errorf("silence: %s holds %v, and is about to regenerate it", o.Who(), s.Token)
		}
		offered := o.On(policy.Received) && o.Event.Msg.Kind == handoff.KindToken
		if longer := me.at.Sub(was.at); was.armed && me.armed && offered &&
			longer > handoffsTake*max(timeout, s.RoundTrip) {
			return fmt.Errorf("silence: %s is offered a token, and waits for %v longer before it makes one", o.Who(),
				longer)
		}
		return nil
	})
}
