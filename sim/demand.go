package sim

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Demand says when callers at the members want a run.
type Demand struct {
	// Every is the mean time from the start of a member, or the end of its last run for a caller, to its next demand.
	// Zero makes a gate without callers, whose members run whenever they may.
	Every time.Duration
	// Beside says that the members also have an operation of their own. Otherwise they run on demand only.
	Beside bool
	// Queued is the share of runs during which somebody else waits at that member already.
	Queued float64
	// Withdrawn is the share of demands that are taken back after a time with mean Every, unless they are served by
	// then.
	Withdrawn float64
}

// callers are the callers at one member, as its shell knows them.
type callers struct {
	// number counts what is arranged with them; only the last counts.
	number int32
	// wait says that the machine knows of the demand and its run has not started.
	wait bool
	// again says that the machine has forgotten the demand, because the member's own operation has started, and is told
	// of it again.
	again bool
}

// await arranges the next demand at a member.
func (c *Cluster) await(who int32) {
	if c.callers != nil {
		c.arrange(entryWanted, c.now.Add(c.demandEvery()), who)
	}
}

// demandEvery draws a time whose mean is Every.
func (c *Cluster) demandEvery() time.Duration {
	return time.Duration(min(c.demandDice.ExpFloat64()*float64(c.cfg.Demand.Every), math.MaxInt64/2))
}

// arrange replaces what is arranged with the callers of a member.
func (c *Cluster) arrange(what entryKind, at policy.Time, who int32) {
	k := &c.callers[who]
	k.number++
	c.push(what, at, who, k.number)
}

// callersBegin: the run of a member starts. It serves the demand, if there is one, unless it is the member's own
// operation beside callers.
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

// sayAgain tells the machine of a member again that somebody waits, as a shell does after the step in which the
// member's own operation has started.
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

// callersEnd: a run of a member for a caller has ended. If it was denied, the demand goes on.
func (c *Cluster) callersEnd(who int32, denied bool) {
	switch {
	case c.callers == nil || c.callers[who].wait:
	case denied:
		c.arrange(entryWanted, c.now, who)
	default:
		c.await(who)
	}
}

// callersGo: the process of a member is gone, and its callers with it.
func (c *Cluster) callersGo(who int32) {
	if c.callers != nil {
		k := &c.callers[who]
		k.number++
		k.wait, k.again = false, false
	}
}

// arranged reports whether what was arranged with the callers of a member still is.
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
	if r := &c.members[who].run; !r.active || !c.serves(r) {
		c.await(who)
	}
}

// EndDemand ends what Config.Demand arranges: nobody asks by itself any more, and no demand is taken back.
func (c *Cluster) EndDemand() { c.callers = nil }

// serves reports whether a run is for a caller.
func (c *Cluster) serves(r *run) bool { return r.demanded || !c.cfg.Demand.Beside }

// Want begins a demand at member i, which must be up.
func (c *Cluster) Want(i int) {
	if c.callers != nil {
		c.callers[i].wait = true
	}
	c.event.Kind = policy.Wanted
	c.step(int32(i), &c.event, about{})
}

// Unwant takes the demand at member i back.
func (c *Cluster) Unwant(i int) {
	if c.callers != nil {
		c.callers[i].wait = false
	}
	c.event.Kind = policy.Unwanted
	c.step(int32(i), &c.event, about{})
}

// Longest is a time within which every member has a demand that is not taken back, except with a chance of one in
// millions.
func (d *Demand) Longest() time.Duration {
	return time.Duration(20 * float64(d.Every) * (1 + 1/(1-d.Withdrawn)))
}
