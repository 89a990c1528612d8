package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// overlap is the state of one member, for [NewOverlapChecker].
type overlap struct {
	// running is true while the member's operation runs. excused is true if it may run beside another one.
	running, excused bool
	// away is the end of the last time in which the member was away.
	away policy.Time
}

// NewOverlapChecker checks how many operations run at once in a fleet whose members crash, stand still, sleep and
// leave, but whose network is sound. One may run, and beside it those of members that are or were away while they run
// or a moment before, and those of members whose process has died. Such a member cannot know that its token was
// revived. Nothing is judged any more once the network was parted or may lose messages, whether the scenario or a test
// arranged that: then there may be two tokens, for as long as they do not meet.
func NewOverlapChecker(while time.Duration) sim.Watcher {
	members := map[int]*overlap{}
	judge := sim.EachMember(func(_ *struct{}, c *sim.Cluster, o *sim.Occurrence) error {
		me := members[o.Member]
		if me == nil {
			me = &overlap{away: -policy.Never}
			members[o.Member] = me
		}
		switch {
		case o.EndsRun():
			me.running = false
		case o.Ends():
			me.excused = true
		case o.Kind == sim.Paused || o.Kind == sim.Slept:
			me.excused, me.away = true, c.AwayUntil(o.Member)
		}
		if !o.Does(policy.Run) {
			return nil
		}
		me.running, me.excused = true, o.At < me.away.Add(while)
		at := 0
		for _, m := range members {
			if m.running && !m.excused {
				at++
			}
		}
		if at > 1 {
			return fmt.Errorf("overlap: %d operations run at once, of members that were not away, and the network is "+
				"sound: see %s", at, o.Who())
		}
		return nil
	})
	unsound := false
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		unsound = unsound || o.Kind == sim.Cut || c.Loses()
		if unsound {
			return nil
		}
		return judge.Watch(c, o)
	})
}

// isSound reports whether only members fail, at least until the network is parted: it loses nothing and is quick, and
// all members start at once.
// When a member comes back and does not see the others, it may make a token beside theirs. So it must wait until it
// sees one, and see one before it takes the token for lost; and it must hear no message from before. Where nobody runs
// for a while because too many are down, it is given a token before it sees one. And no member may take the token for
// lost before the first one is made.
func (s *Scenario) isSound() bool {
	lost := s.MaxIntervalInForce()
	if s.Differ > 0 && float64(s.MinInterval)*s.Differ > float64(lost) {
		return false
	}
	n, f := s.Network, s.Faults
	quick := n.Loss+n.Late+n.Broken == 0 && n.Distant == 0 && 4*(n.Latency+n.Jitter) < wander.Patience(s.Skip)
	honest := f.DeafEvery == 0 && f.ForgeEvery == 0 && f.RenewEvery == 0 && f.Restart == (sim.Restart{})
	stay := f.CrashEvery == 0 && f.LeaveEvery == 0 && f.Groups == (sim.Groups{})
	return quick && honest && !s.someStay() && s.StartWithin == 0 &&
		(stay || s.WaitAlone && n.Replay == 0 && s.Shape.MaxDown == 0 &&
			s.Membership.GossipAfter+s.Membership.Spread < min(lost, 3*s.MinInterval))
}

// NewCrowdChecker checks that a fleet in which nothing goes wrong makes one token, and that one operation runs at once,
// however little its members know. The hardest such fleet is one with a MaxInterval much shorter than its first lap.
//
//go:noinline
func NewCrowdChecker() sim.Watcher {
	made, running := 0, map[int]bool{}
	return sim.EachMember(func(_ *struct{}, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.EndsRun() {
			delete(running, o.Member)
		}
		for e := range o.Did(policy.Took) {
			if e.Cause == policy.CauseMade {
				made++
			}
		}
		for range o.Did(policy.Run) {
			running[o.Member] = true
		}
		if made > 1 || len(running) > 1 {
			return fmt.Errorf("crowd: %d tokens were made, and %d members run at once, and nothing has gone wrong: "+
				"see %s", made, len(running), o.Who())
		}
		return nil
	})
}
