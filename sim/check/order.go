package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// OrderChecker checks that no member runs under an order that it knows, and that an order that anybody alive knows is soon known to all. What a
// member knows is what it was given, has received, or has read from its disk; the checker keeps its own account of that.
type OrderChecker struct {
	within time.Duration
	heads  map[int]*head
	// parted says that the network is, whole since when it is not.
	parted bool
	whole  policy.Time
}

// head is what one member knows.
type head struct {
	order wire.Order
	here  int64
	// since is when it learned the order, here from when it has been up and not away.
	since, present policy.Time
}

// NewOrderChecker returns a checker of one run. within is the longest time in which gossip reaches a member that is up, in a network that is
// whole.
func NewOrderChecker(within time.Duration) *OrderChecker {
	return &OrderChecker{within: within, heads: map[int]*head{}}
}

// Watch implements [sim.Watcher].
func (k *OrderChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch o.Kind {
	case sim.Cut:
		k.parted = true
	case sim.Healed:
		k.parted, k.whole = false, o.At
	case sim.Crashed, sim.Departed:
		delete(k.heads, o.Member)
	case sim.Paused, sim.Slept:
		k.heads[o.Member].present = c.AwayUntil(o.Member)
	case sim.Stepped:
		return k.step(c, o)
	case sim.Ignored, sim.Lost, sim.Duplicated, sim.Played, sim.Came, sim.RunGone:
	}
	return nil
}

func (k *OrderChecker) step(c *sim.Cluster, o *sim.Occurrence) error {
	wall := c.Instant(o.Member).Wall
	if o.Event.Kind == policy.Started {
		s := &o.Event.State
		k.heads[o.Member] = &head{order: s.Order, here: s.Here, since: o.At, present: o.At}
	}
	me := k.heads[o.Member]
	switch {
	case o.Event.Kind == policy.Received && o.Expected:
		me.learn(o.Event.Msg.Order, wall, o.At)
	case o.Event.Kind == policy.Ordered && o.Event.Here:
		me.here = o.Event.Order.Until
	case o.Event.Kind == policy.Ordered:
		me.learn(o.Event.Order, wall, o.At)
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Proclaim:
			me.learn(e.Msg.Order, wall, o.At) // its own
		case e.Kind == policy.Run && (me.order.Pauses(wall) || wall < me.here):
			return fmt.Errorf("order: %s runs, and knows that the gate is paused", sim.MemberName(o.Member))
		}
	}
	if !o.Completes() {
		return nil
	}
	paused, saved := me.order.Pauses(wall) || wall < me.here, c.Disk(o.Member)
	switch who := sim.MemberName(o.Member); {
	case c.PausedByOrder(o.Member) != paused:
		return fmt.Errorf("order: that %s is paused is %v, and by all it knows it should be %v", who, !paused, paused)
	case o.Event.Kind == policy.Saved && !o.Event.Failed && (saved.Order != me.order || saved.Here != me.here):
		return fmt.Errorf("order: %s has saved %+v, and knows %+v", who, saved.Order, me.order)
	}
	return k.ignorance(c, o.Member)
}

func (h *head) learn(o wire.Order, wall int64, at policy.Time) {
	if o.Compare(h.order) > 0 && o.Stamp <= wire.LatestStamp(wall) {
		h.order, h.since = o, at
	}
}

// ignorance finds a member that should know an order by now.
func (k *OrderChecker) ignorance(c *sim.Cluster, who int) error {
	me, long := k.heads[who], c.Now().Add(-k.within)
	if k.parted || k.whole > long || me.present > long {
		return nil
	}
	for i := range c.Members() {
		if h := k.heads[i]; h != nil && h.order.Compare(me.order) > 0 && h.since <= long && h.present <= long &&
			h.order.Stamp <= wire.LatestStamp(c.Instant(who).Wall) {
			return fmt.Errorf("order: %s does not know the order that %s has known for %v",
				sim.MemberName(who), sim.MemberName(i), c.Now().Sub(h.since))
		}
	}
	return nil
}
