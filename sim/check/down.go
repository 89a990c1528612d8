package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// down is what a world knows of a member: since when it is down, Never if it is not; when it has started; and whom it
// has seen since.
type down struct {
	since, up policy.Time
	met       map[int]bool
	// begins is what is wrong with the run that is granted, if it does start.
	begins error
}

type downs struct {
	most    int
	noticed time.Duration
	members []down
	// whole is since when the network has been; Never, if it is cut.
	whole   policy.Time
	granted []int
}

// NewDownChecker checks that no run starts where too many members are down, if the one that runs must know it: most is
// how many may be, that one included. A member knows of those that it has seen since it started, and that have been
// down for the time noticed; and it has itself been there, in a whole network, for as long. Who has left in order does
// not count.
//
//go:noinline
func NewDownChecker(most, members int, noticed time.Duration) sim.Watcher {
	k := &downs{most: most, noticed: noticed, members: make([]down, members)}
	for i := range k.members {
		k.members[i] = down{since: policy.Never, met: map[int]bool{}}
	}
	return k
}

// Watch implements [sim.Watcher].
func (k *downs) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	for _, i := range k.granted {
		if m := &k.members[i]; m.begins != nil && c.Up(i) && c.Operating(i) {
			return m.begins
		}
	}
	k.granted = k.granted[:0]
	switch o.Kind {
	case sim.Crashed:
		k.members[o.Member].since = o.At
	case sim.Departed:
		k.members[o.Member].since = policy.Never
	case sim.Came:
		k.members[o.Member] = down{since: policy.Never, up: o.At, met: map[int]bool{}}
	case sim.Paused, sim.Slept:
		k.members[o.Member].since = o.At
	case sim.Stepped:
		k.steps(c, o)
	case sim.Cut:
		k.whole = policy.Never
	case sim.Healed:
		k.whole = o.At
	case sim.Ignored, sim.Lost, sim.Duplicated, sim.Played, sim.RunGone:
	}
	return nil
}

func (k *downs) steps(c *sim.Cluster, o *sim.Occurrence) {
	me := &k.members[o.Member]
	if me.since != policy.Never { // It was away, and is back.
		me.since, me.up = policy.Never, o.At
	}
	if o.On(policy.PeersChanged) {
		for i := range k.members {
			if slices.Contains(o.Event.Peers, c.ID(i)) {
				me.met[i] = true
			}
		}
	}
	if !o.Does(policy.Run) || k.whole == policy.Never || o.At.Sub(max(me.up, k.whole)) < k.noticed {
		return
	}
	n := 1
	if several, ok := c.Machine(o.Member).(policy.Slotted); ok {
		n = several.Slots()
	}
	for i := range k.members {
		m := &k.members[i]
		if i != o.Member && me.met[i] && m.since != policy.Never && o.At.Sub(m.since) >= k.noticed &&
			(!c.Up(i) || c.Away(i)) {
			n++
		}
	}
	me.begins = nil
	if n > k.most {
		me.begins = fmt.Errorf("down: %s runs, and with it %d are down or may run, and at most %d may be", o.Who(), n,
			k.most)
	}
	k.granted = append(k.granted, o.Member)
}
