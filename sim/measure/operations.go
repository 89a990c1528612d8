package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// operations records which members run, and since when.
type operations struct {
	members []operator
	running levels
	started int
	// intervals are the times between two starts at one member.
	intervals intervals
	busy      busy
}

// operator is the state of one member's operations.
type operator struct {
	up, came, ran bool
	// running counts them: the operation of a dead process may go on beside the next.
	running uint8
	// since is when its last operation started; before the first one, when the member came.
	since policy.Time
}

func (p *operations) arrive(now policy.Time, member int) {
	o := &p.members[member]
	if !o.came {
		o.since = now
	}
	o.came, o.up = true, true
}

// end: a process that ends takes its operation with it, sooner or later.
func (p *operations) end(o *sim.Occurrence) {
	p.members[o.Member].up = false
	if o.EndsRun() {
		p.finish(o.At, o.Member)
	}
}

func (p *operations) start(now policy.Time, member int) {
	o := &p.members[member]
	p.started++
	if o.ran {
		p.intervals.add(now.Sub(o.since))
	}
	o.ran, o.since = true, now
	o.running++
	p.change(now, +1)
}

func (p *operations) finish(now policy.Time, member int) {
	if o := &p.members[member]; o.running > 0 {
		o.running--
		p.change(now, -1)
	}
}

func (p *operations) change(now policy.Time, by int) {
	p.busy.spend(now, p.running.level)
	p.running.set(now, p.running.level+by)
}

func (p *operations) begin(now policy.Time) {
	p.started = 0
	p.running.begin(now)
	p.intervals.begin()
	p.busy.begin(now)
}

// open returns the longest time since the last start at a member that is up: a member that starves has no other interval, and this one
// is in no quantile.
func (p *operations) open(now policy.Time) time.Duration {
	longest := time.Duration(0)
	for i := range p.members {
		if o := &p.members[i]; o.up {
			longest = max(longest, now.Sub(o.since))
		}
	}
	return longest
}
