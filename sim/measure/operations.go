package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// operations records which members run, and since when.
type operations struct {
	members     []operator
	concurrency *Concurrency
	started     int
	// intervals are the times between two starts at one member, not counting runs for callers beside its operation.
	intervals intervals
	busy      busy
}

type operator struct {
	up, came, ran bool
	// since is when the member's own operation last started; before its first start, when the member came.
	since policy.Time
}

func (p *operations) watch(o *sim.Occurrence) {
	p.busy.spend(o.At, p.concurrency.levels.level)
	p.concurrency.watch(o)
	me := &p.members[o.Member]
	switch {
	case o.Kind == sim.Came && !me.came:
		*me = operator{up: true, came: true, since: o.At}
	case o.Kind == sim.Came:
		me.up = true
	case o.Ends():
		me.up = false
	}
	for e := range o.Did(policy.Run) {
		p.started++
		if e.Demanded {
			continue
		}
		if me.ran {
			p.intervals.add(o.At.Sub(me.since))
		}
		me.ran, me.since = true, o.At
	}
}

func (p *operations) begin(now policy.Time) {
	p.started = 0
	p.concurrency.levels.begin(now)
	p.intervals.begin()
	p.busy.begin(now)
}

// open returns the longest time since the last start at a member that is up. A member that starves has no other
// interval, and this one is in no quantile.
func (p *operations) open(now policy.Time) time.Duration {
	longest := time.Duration(0)
	for i := range p.members {
		if o := &p.members[i]; o.up {
			longest = max(longest, now.Sub(o.since))
		}
	}
	return longest
}
