package wander

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewTakerChecker checks that no member gives its token up for want of others while another member is there that could
// take it: a member that stops passes its token on while any member stays, and a token whose holder lives is not lost.
// A member could take it if it has been up and in touch with the holder for a while, is in a view of the holder that
// has not changed meanwhile, and is not about to leave, and if the holder was not away. It is for networks that lose
// nothing, and for members with the same number of slots: one that lacks a token's slot does not take it.
//
//go:noinline
func NewTakerChecker(while time.Duration) sim.Watcher {
	var network policy.Time
	var members []policy.Time // since when each has been in order, with the same view
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if members == nil {
			members = make([]policy.Time, c.Members())
		}
		switch o.Kind {
		case sim.Cut, sim.Healed:
			network = o.At
		case sim.Came:
			members[o.Member] = o.At
		case sim.Paused, sim.Slept:
			members[o.Member] = c.AwayUntil(o.Member)
		case sim.Stepped:
			if o.Event.Kind == policy.PeersChanged {
				members[o.Member] = max(members[o.Member], o.At)
			}
		case sim.Ignored, sim.Lost, sim.Duplicated, sim.Played, sim.Crashed, sim.RunGone, sim.Departed:
		}
		if c.Loses() {
			network = o.At
		}
		if o.Kind != sim.Stepped || o.At.Sub(max(network, members[o.Member])) < while {
			return nil
		}
		for e := range o.Did(policy.Gave) {
			if e.Cause != policy.CauseDropped && e.Cause != policy.CauseYielded {
				continue
			}
			for i, since := range members {
				takes := i != o.Member && c.Up(i) && !c.Away(i) && !c.Leaving(i) && o.At.Sub(since) >= while &&
					c.Reaches(o.Member, i) && c.Reaches(i, o.Member)
				if takes && slices.Contains(c.View(o.Member), c.ID(i)) {
					return fmt.Errorf("taker: %s gives its token up (%v), and %s could take it", o.Who(), e.Cause,
						sim.MemberName(i))
				}
			}
		}
		return nil
	})
}
