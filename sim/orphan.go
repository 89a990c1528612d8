package sim

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// The guard of a run sends its messages this often, and this far apart.
const (
	releaseTimes = 3
	releaseApart = 25 * time.Millisecond
)

// preSign gives a message to the guard of a member's run, or takes all of them back.
func (c *Cluster) preSign(who int32, m *wire.Message) {
	switch {
	case m.Kind == 0:
		delete(c.preSigned, who)
	case c.members[who].run.active && !c.members[who].run.soaks:
		c.preSigned[who] = append(c.preSigned[who], *m)
	}
}

// orphan leaves the run of a process that dies to the run's guard, and reports whether there is a run. The guard tells
// the run to stop, kills it after a grace period, and sends its messages when the run is gone.
func (c *Cluster) orphan(who int32) bool {
	r := &c.members[who].run
	if !r.active || r.denied || r.soaks { // or no process was ever started, or none is left
		return false
	}
	takes := termTime
	if r.deaf {
		takes = max(c.cfg.OrphanGrace, termTime)
	}
	words := slices.Clone(c.preSigned[who])
	c.At(min(r.end(), c.now.Add(takes)), func() {
		c.tell(Occurrence{Kind: RunGone, Member: int(who)})
		c.say(words, releaseTimes)
	})
	return true
}

// say sends a guard's messages several times.
func (c *Cluster) say(words []wire.Message, times int) {
	for i := range words {
		c.send(&words[i])
	}
	if times > 1 && len(words) > 0 {
		c.After(releaseApart, func() { c.say(words, times-1) })
	}
}
