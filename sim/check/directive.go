package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

type directiveChecker struct {
	within time.Duration
	heads  map[int]*head
	// parted is true while the network is parted. whole is when it last became whole.
	parted bool
	whole  policy.Time
}

type head struct {
	directive wire.Directive
	here      int64
	// since is when the member learned the directive. present is from when it has been up and not away.
	since, present policy.Time
}

// NewDirectiveChecker checks two rules. No member runs against a directive that it knows. And a directive that any live
// member knows is soon known to all. A member knows what it was given, has received, or has read from its disk; the
// checker keeps its own account of that. within is the longest time in which gossip reaches a member that is up, in a
// network that is whole.
func NewDirectiveChecker(within time.Duration) sim.Watcher {
	k := &directiveChecker{within: within, heads: map[int]*head{}}
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

func (k *directiveChecker) step(c *sim.Cluster, o *sim.Occurrence) error {
	wall := c.Instant(o.Member).Wall
	if s := &o.Event.State; o.On(policy.Started) {
		k.heads[o.Member] = &head{directive: s.Directive, here: s.Here, since: o.At, present: o.At}
	}
	me := k.heads[o.Member]
	switch {
	case o.On(policy.Received) && o.Expected:
		me.learn(o.Event.Msg.Directive, wall, o.At)
	case o.On(policy.Directed) && o.Event.Here:
		me.here = o.Event.Directive.Until
	case o.On(policy.Directed):
		me.learn(o.Event.Directive, wall, o.At)
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Proclaim:
			me.learn(e.Msg.Directive, wall, o.At) // its own
		case e.Kind == policy.Run && me.paused(wall):
			return fmt.Errorf("directive: %s runs, and knows that the gate is paused", o.Who())
		}
	}
	if !o.Completes() {
		return nil
	}
	paused, saved := me.paused(wall), c.Disk(o.Member)
	switch {
	case o.On(policy.Received) && !o.Expected: // It changes nothing, so a pause that is over goes on until the wake-up.
	case c.PausedByDirective(o.Member) != paused:
		return fmt.Errorf("directive: that %s is paused is %v, and by all it knows it should be %v", o.Who(), !paused,
			paused)
	case o.On(policy.Saved) && !o.Event.Failed && (saved.Directive != me.directive || saved.Here != me.here):
		return fmt.Errorf("directive: %s has saved %+v, and knows %+v", o.Who(), saved.Directive, me.directive)
	}
	return k.ignorance(c, o.Member)
}

func (h *head) learn(o wire.Directive, wall int64, at policy.Time) {
	if o.Compare(h.directive) > 0 && o.Stamp <= wire.LatestStamp(wall) {
		h.directive, h.since = o, at
	}
}

// paused reports whether a member must not run, by the directives that it knows.
func (h *head) paused(wall int64) bool { return h.directive.Pauses(wall) || wall < h.here }

// ignorance finds a member that should know a directive by now.
func (k *directiveChecker) ignorance(c *sim.Cluster, who int) error {
	me, long := k.heads[who], c.Now().Add(-k.within)
	if k.parted || k.whole > long || me.present > long {
		return nil
	}
	for i := range c.Members() {
		if h := k.heads[i]; h != nil && h.directive.Compare(me.directive) > 0 && h.since <= long && h.present <= long &&
			h.directive.Stamp <= wire.LatestStamp(c.Instant(who).Wall) {
			return fmt.Errorf("directive: %s does not know the directive that %s has known for %v",
				sim.MemberName(who), sim.MemberName(i), c.Now().Sub(h.since))
		}
	}
	return nil
}
