package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

type orderChecker struct {
	within time.Duration
	heads  map[int]*head
	// parted is true while the network is parted. whole is when it last became whole.
	parted bool
	whole  policy.Time
}

type head struct {
	order wire.Order
	here  int64
	// since is when the member learned the order. present is from when it has been up and not away.
	since, present policy.Time
}

// NewOrderChecker checks two rules. No member runs against an order that it knows. And an order that any live member
// knows is soon known to all. A member knows what it was given, has received, or has read from its disk; the checker
// keeps its own account of that. within is the longest time in which gossip reaches a member that is up, in a network
// that is whole.
func NewOrderChecker(within time.Duration) sim.Watcher {
	k := &orderChecker{within: within, heads: map[int]*head{}}
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.Kind == sim.Cut:
			k.parted = true
		case o.Kind == sim.Healed:
			k.parted, k.whole = false, o.At
		case o.Ends():
			delete(k.heads, o.Member)
		case o.Kind == sim.Paused || o.Kind == sim.Slept:
			k.heads[o.Member].present = c.AwayUntil(o.Member)
		case o.Kind == sim.Stepped:
			return k.step(c, o)
		}
		return nil
	})
}

func (k *orderChecker) step(c *sim.Cluster, o *sim.Occurrence) error {
	wall := c.Instant(o.Member).Wall
	if s := &o.Event.State; o.On(policy.Started) {
		k.heads[o.Member] = &head{order: s.Order, here: s.Here, since: o.At, present: o.At}
	}
	me := k.heads[o.Member]
	switch {
	case o.On(policy.Received) && o.Expected:
		me.learn(o.Event.Msg.Order, wall, o.At)
	case o.On(policy.Ordered) && o.Event.Here:
		me.here = o.Event.Order.Until
	case o.On(policy.Ordered):
		me.learn(o.Event.Order, wall, o.At)
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Proclaim:
			me.learn(e.Msg.Order, wall, o.At) // its own
		case e.Kind == policy.Run && me.paused(wall):
			return fmt.Errorf("order: %s runs, and knows that the gate is paused", o.Who())
		}
	}
	if !o.Completes() {
		return nil
	}
	paused, saved := me.paused(wall), c.Disk(o.Member)
	switch {
	case c.PausedByOrder(o.Member) != paused:
		return fmt.Errorf("order: that %s is paused is %v, and by all it knows it should be %v", o.Who(), !paused,
			paused)
	case o.On(policy.Saved) && !o.Event.Failed && (saved.Order != me.order || saved.Here != me.here):
		return fmt.Errorf("order: %s has saved %+v, and knows %+v", o.Who(), saved.Order, me.order)
	}
	return k.ignorance(c, o.Member)
}

func (h *head) learn(o wire.Order, wall int64, at policy.Time) {
	if o.Compare(h.order) > 0 && o.Stamp <= wire.LatestStamp(wall) {
		h.order, h.since = o, at
	}
}

// paused reports whether a member must not run, by the orders that it knows.
func (h *head) paused(wall int64) bool { return h.order.Pauses(wall) || wall < h.here }

// ignorance finds a member that should know an order by now.
func (k *orderChecker) ignorance(c *sim.Cluster, who int) error {
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
