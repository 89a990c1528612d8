package call

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// back is what is known of the token of a fleet in which hosts crash and nothing else goes wrong.
type back struct {
	within time.Duration
	// holds are the members that hold a token, waits those that wait for it, and since when.
	holds map[int]bool
	waits map[int]policy.Time
	// lost is when the last holder crashed, without a run that outlived it; Never while nothing is lost. changed is
	// when a member last crashed, came, or saw that another one had.
	lost, changed policy.Time
	// up is how many members are up.
	up int
}

// newBackChecker checks how soon a token is back whose holder has crashed: within that time after that, after the first
// member began to wait, and after the last change in the fleet. A part of a fleet, up to half of it, may wait for the
// others. It is for fleets in which nothing else goes wrong.
func newBackChecker(within time.Duration) sim.Watcher {
	return &back{within: within, holds: map[int]bool{}, waits: map[int]policy.Time{}, lost: policy.Never}
}

// Watch implements [sim.Watcher].
func (k *back) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() || o.Kind == sim.Came || o.On(policy.PeersChanged) {
		k.changed = o.At
	}
	switch {
	case o.Ends():
		k.up--
	case o.Kind == sim.Came:
		k.up++
	}
	if first := k.first(); o.At.Sub(max(k.lost, first, k.changed)) > k.within && max(k.lost, first) < policy.Never &&
		2*k.up > c.Members() {
		return fmt.Errorf("back: the holder has crashed at %s, a member waits since %s, nothing has changed since %s, "+
			"and no member has the token", sim.Seconds(k.lost), sim.Seconds(first), sim.Seconds(k.changed))
	}
	switch {
	case o.Ends():
		if k.holds[o.Member] && !o.Outlived {
			k.lost = o.At
		}
		delete(k.holds, o.Member)
		delete(k.waits, o.Member)
	case o.On(policy.Unwanted), o.Does(policy.Run):
		delete(k.waits, o.Member)
	case o.On(policy.Wanted) && k.waits[o.Member] == 0:
		k.waits[o.Member] = max(o.At, 1)
	}
	for i := range o.Effects {
		switch o.Effects[i].Kind {
		case policy.Took:
			k.holds[o.Member], k.lost = true, policy.Never
		case policy.Gave:
			delete(k.holds, o.Member)
		case policy.Save, policy.Send, policy.Run, policy.Extend, policy.Stop, policy.PreSign,
			policy.Announce, policy.Proclaim, policy.Tell, policy.Gone:
		}
	}
	return nil
}

// first is when the first of those that wait began to.
func (k *back) first() (at policy.Time) {
	at = policy.Never
	for _, since := range k.waits {
		at = min(at, since)
	}
	return at
}
