package sim

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Demand describes when callers at the members want a run.
type Demand struct {
	// Every is the mean time from a member's start, or from the end of its last run for a caller, to its next demand.
	// Zero makes a gate without callers, whose members run whenever they may.
	Every time.Duration
	// Beside is true if the members also have an operation of their own. Otherwise they run on demand only.
	Beside bool
	// Queued is the share of runs during which the next caller waits at that member already.
	Queued float64
	// Withdrawn is the share of demands that are withdrawn after a time with mean Every, unless they are served before.
	Withdrawn float64
}

// callers are one member's callers, as its shell knows them.
type callers struct {
	// number counts the appointments made with the callers. Only the last one is in force.
	number int32
	// wait is true while the machine knows of the demand and its run has not started.
	wait bool
	// again is true while the machine must be told of the demand again, because it has forgotten it: the member's own
	// operation has started.
	again bool
}

// await arranges a member's next demand.
func (c *Cluster) await(who int32) {
	if c.callers != nil {
		c.arrange(entryWanted, c.now.Add(c.demandEvery()), who)
	}
}

// demandEvery draws a time whose mean is Every.
func (c *Cluster) demandEvery() time.Duration {
	return time.Duration(min(c.demandDice.ExpFloat64()*float64(c.cfg.Demand.Every), math.MaxInt64/2))
}

// arrange replaces the appointment with a member's callers.
func (c *Cluster) arrange(what entryKind, at policy.Time, who int32) {
	k := &c.callers[who]
	k.number++
	c.push(what, at, who, k.number)
}

// callersBegin is called when a run of a member starts. The run serves the demand, if there is one, unless it is the
// member's own operation in a gate that has callers too.
func (c *Cluster) callersBegin(who int32, served bool) {
	if c.callers == nil {
		return
	}
	k := &c.callers[who]
	if !served {
		k.again = k.wait
		return
	}
	k.wait = false
	k.number++
	if happens(c.demandDice, c.cfg.Demand.Queued) {
		c.arrange(entryWanted, c.now, who)
	}
}

// sayAgain tells a member's machine again that a caller waits. A shell does so after the step in which the member's own
// operation has started.
func (c *Cluster) sayAgain(who int32) {
	if c.callers == nil || !c.callers[who].again {
		return
	}
	c.callers[who].again = false
	if c.members[who].up && c.callers[who].wait {
		c.event.Kind = policy.Wanted
		c.step(who, &c.event, about{})
	}
}

// callersEnd is called when a member's run for a caller has ended. If the run was denied, the demand goes on.
func (c *Cluster) callersEnd(who int32, denied bool) {
	switch {
	case c.callers == nil || c.callers[who].wait:
	case denied:
		c.arrange(entryWanted, c.now, who)
	default:
		c.await(who)
	}
}

// callersGo is called when a member's process has ended, and its callers with it.
func (c *Cluster) callersGo(who int32) {
	if c.callers != nil {
		k := &c.callers[who]
		k.number++
		k.wait, k.again = false, false
	}
}

// arranged reports whether an appointment with a member's callers is still in force.
func (c *Cluster) arranged(who, number int32) bool {
	return c.callers != nil && c.callers[who].number == number && c.members[who].up
}

func (c *Cluster) wanted(who, number int32) {
	if !c.arranged(who, number) {
		return
	}
	if happens(c.demandDice, c.cfg.Demand.Withdrawn) {
		c.arrange(entryUnwanted, c.now.Add(c.demandEvery()), who)
	}
	c.Want(int(who))
}

func (c *Cluster) unwanted(who, number int32) {
	if !c.arranged(who, number) {
		return
	}
	c.Unwant(int(who))
	if r := &c.members[who].run; !r.active || r.soaks || !c.serves(r) {
		c.await(who)
	}
}

// EndDemand ends the demands that Config.Demand arranges: no new ones arise, and none are withdrawn.
func (c *Cluster) EndDemand() { c.callers = nil }

// serves reports whether a run is for a caller.
func (c *Cluster) serves(r *run) bool { return r.demanded || !c.cfg.Demand.Beside }

// isOwn reports whether a run is the member's own operation.
func (c *Cluster) isOwn(r *run) bool { return c.cfg.Demand.Every == 0 || !c.serves(r) }

// Want begins a demand at member i, which must be up.
func (c *Cluster) Want(i int) {
	if c.callers != nil {
		c.callers[i].wait = true
	}
	c.event.Kind = policy.Wanted
	c.step(int32(i), &c.event, about{})
}

// Unwant withdraws the demand at member i.
func (c *Cluster) Unwant(i int) {
	if c.callers != nil {
		c.callers[i].wait = false
	}
	c.event.Kind = policy.Unwanted
	c.step(int32(i), &c.event, about{})
}

// Longest returns a time within which every member has a demand that is not withdrawn, except with a chance of one in
// millions.
func (d *Demand) Longest() time.Duration {
	return time.Duration(20 * float64(d.Every) * (1 + 1/(1-d.Withdrawn)))
}
