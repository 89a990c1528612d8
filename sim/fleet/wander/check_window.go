package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
)

// WindowChecker checks two rules of a gate with windows. A run begins only in a window, or while its start that was granted in one is being
// saved. And "a member that may not run passes the token on; nobody ever holds and waits for a window": a token rests at a member
// outside its windows for a skip, or for a lap of skips at most, if the member is due by then; a new one for as
// long again as a start may take.
type WindowChecker struct {
	windows           window.Set
	most, startWithin time.Duration
	resting           map[int]policy.Time
}

// NewWindowChecker returns a checker of one run. startWithin is the longest time from a grant to its start.
func NewWindowChecker(windows window.Set, members int, skip, startWithin time.Duration) *WindowChecker {
	return &WindowChecker{
		windows: windows, most: time.Duration(members)*skip + startWithin, startWithin: startWithin, resting: map[int]policy.Time{},
	}
}

// Watch implements [sim.Watcher].
func (k *WindowChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		delete(k.resting, o.Member) // it may have been away
		return nil
	}
	if _, rests := k.resting[o.Member]; rests && o.Event.Kind == policy.PeersChanged {
		k.resting[o.Member] = o.At // who was alone has kept its token
	}
	wall := c.Instant(o.Member).Wall
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Run && !k.windows.Open(wall) && !k.windows.Open(wall-int64(k.startWithin)):
			return fmt.Errorf("window: %s runs at %s, outside its windows", sim.MemberName(o.Member), sim.Seconds(o.At))
		case e.Kind != policy.Tell:
		case e.Note == wander.NoteResting:
			k.resting[o.Member] = o.At
		case e.Note == handoff.NoteOffered && o.Due:
			rested, ok := k.resting[o.Member]
			if delete(k.resting, o.Member); ok && o.Event.Kind == policy.Woke && o.At.Sub(rested) > k.most && !k.windows.Open(wall) {
				return fmt.Errorf("window: %s kept the token for %v outside its windows", sim.MemberName(o.Member), o.At.Sub(rested))
			}
		}
	}
	return nil
}
