package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Reboots are operations that reboot their hosts, in a gate whose grants outlive them.
type Reboots struct {
	// Share is the share of runs that reboot their host. Late is the share of those after which it comes back late.
	Share, Late float64
	// Away is how long a host is away at most, or exactly. LateBy is how much longer one is away that comes back late.
	// Looked is how long it is looked at before its run is over.
	Away, LateBy, Looked time.Duration
	Exactly              bool
}

// reboots carries out the end of a run that reboots its host, and reports whether this run does.
func (c *Cluster) reboots(who int32) bool {
	what := &c.cfg.Hook.Reboots
	r := &c.members[who].run
	if r.denied || r.timedOut || r.resumed || r.outcome != policy.Succeeded || !happens(c.hookDice, what.Share) {
		return false
	}
	away := what.Away
	if !what.Exactly {
		away = time.Duration(c.hookDice.Float64() * float64(away))
	}
	if happens(c.hookDice, what.Late) {
		away += what.LateBy
	}
	c.PowerCut(int(who))
	c.After(away, func() {
		if !c.members[who].up {
			c.Start(int(who))
		}
	})
	return true
}

// resumeRun goes on with the run of an earlier life whose grant was kept.
func (c *Cluster) resumeRun(who int32) {
	m := &c.members[who]
	if !m.up || m.disk.Kept.Holder != m.id {
		return
	}
	number := m.run.number + 1
	m.run = run{
		number: number, active: true, resumed: true, demanded: m.disk.Kept.Demanded, outcome: policy.Succeeded,
		endAt: c.now.Add(max(c.cfg.Hook.Reboots.Looked, 1)),
	}
	c.push(entryFinished, m.run.endAt, who, number)
}
