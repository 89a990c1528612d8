package sim

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/wire"
)

// Operators describes the directives of operators. In a world with its zero value nobody gives directives, and members
// have no layer of directives.
type Operators struct {
	// Every is the mean time between two directives, each at a random member: to pause the gate or, if that member
	// knows that it is paused, to resume it. For is the mean duration of a pause.
	Every, For time.Duration
	// HereShare is the share of directives that are for one member alone.
	HereShare float64
	// StopAfter is how many hosts have to fail in a row until the gate is paused. Zero means never.
	StopAfter int
	// Once is the time in which one success of the members' operation is enough for all; zero means that each member
	// has its own interval.
	Once time.Duration
	// Scripted is true if directives come by [Cluster.Give], in addition to those of Every.
	Scripted bool
}

type directives struct {
	dice *rand.Rand
	// layers are the members' layers of directives. It is nil if there are no operators.
	layers []*directive.Layer
	// spread is the newest directive that gossip has spread, on each side of the network.
	spread [MaxParts]wire.Directive
}

const failedExit = 1

// stepping is the machine of a member as its shell steps it.
func (c *Cluster) stepping(who int32) policy.Machine {
	if c.directives.layers == nil {
		return c.members[who].machine
	}
	return c.directives.layers[who]
}

// Directives returns the layer of directives of member i, which must be up, in a world with operators.
func (c *Cluster) Directives(i int) *directive.Layer { return c.directives.layers[i] }

// PausedByDirective reports whether a directive to pause is in force at member i, which must be up.
func (c *Cluster) PausedByDirective(i int) bool {
	return c.directives.layers != nil && c.directives.layers[i].Paused()
}

// Give gives a directive to member i, if it is up and not away. pause is for how long the gate is paused:
// [policy.Never] means until it is resumed, and zero resumes it.
func (c *Cluster) Give(i int, pause time.Duration, here bool) {
	if !c.Up(i) || c.Away(i) {
		return
	}
	wall := c.Instant(i).Wall
	until := int64(0)
	switch {
	case pause == time.Duration(policy.Never):
		until = wire.ForEver
	case pause > 0:
		until = wall + int64(pause)
	}
	c.event.Kind, c.event.Here, c.event.Directive = policy.Directed, here, c.directives.layers[i].Next(wall, until)
	c.step(int32(i), &c.event, about{})
}

func (f *faults) operate() {
	o := &f.c.directives
	what := &f.c.cfg.Operators
	i, pause, here := o.dice.IntN(len(f.c.members)), time.Duration(o.dice.ExpFloat64()*float64(what.For)),
		happens(o.dice, what.HereShare)
	if f.c.Up(i) && o.layers[i].Paused() {
		pause = 0
	}
	f.c.Give(i, pause, here)
}

// proclaim carries out the effect: gossip brings the directive to the others, if its member lives long enough.
func (c *Cluster) proclaim(who int32, o wire.Directive) {
	life := c.members[who].life
	c.After(c.cfg.Membership.GossipAfter, func() {
		if m := &c.members[who]; m.up && m.life == life {
			c.gossip(c.side(who), o)
		}
	})
}

// gossip gives a directive to a side of the network, if it is new there.
func (c *Cluster) gossip(side int, o wire.Directive) {
	if o.Compare(c.directives.spread[side]) <= 0 {
		return
	}
	c.directives.spread[side] = o
	for i := range c.members {
		if who := int32(i); c.members[i].up && c.side(who) == side {
			c.push(entryDirective, c.now.Add(c.late()), who, 0)
		}
	}
}

// late draws how much later than others a member hears something.
func (c *Cluster) late() time.Duration {
	if c.cfg.Membership.Spread <= 0 {
		return 0
	}
	return time.Duration(c.directives.dice.Uint64N(uint64(c.cfg.Membership.Spread)))
}

// hearDirective tells a member the newest directive that gossip has, if the member does not know it.
func (c *Cluster) hearDirective(who int32) {
	if c.directives.layers == nil || !c.members[who].up {
		return
	}
	if o := c.directives.spread[c.side(who)]; o.Compare(c.directives.layers[who].Newest()) > 0 {
		c.event.Kind, c.event.Here, c.event.Directive = policy.Directed, false, o
		c.step(who, &c.event, about{})
	}
}

// resumeAll ends all pauses, after everybody has had time to hear of them: each member that is paused then resumes the
// gate.
func (c *Cluster) resumeAll() {
	for i := range c.members {
		if !c.Up(i) || c.Away(i) || !c.directives.layers[i].Paused() {
			continue
		}
		c.Give(i, 0, true)
		c.Give(i, 0, false)
	}
	c.After(ResumedAfter, c.resumeAll)
}

// mendOperation ends the failures that a brake or a stage counts; otherwise they would go on stopping the gate. Where
// runs are longer than their timeout, they go on failing, so there the brake itself is removed.
func (c *Cluster) mendOperation() {
	if c.cfg.Operators.StopAfter == 0 && c.cfg.Shape.Canaries == 0 {
		return
	}
	c.cfg.Hook.Fails, c.cfg.Hook.Unhealthy = 0, 0
	if c.cfg.Hook.Timeout == 0 {
		return
	}
	c.cfg.Operators.StopAfter = 0
	for _, l := range c.directives.layers {
		if l != nil {
			l.StopAfter(0)
		}
	}
}

// StopsAfter is how many hosts have to fail in a row until the gate is paused; zero means never, also after the faults
// have ended.
func (c *Cluster) StopsAfter() int { return c.cfg.Operators.StopAfter }

// ResumedAfter is how long a pause lasts at most after the end of the faults.
const ResumedAfter = 30 * time.Second
