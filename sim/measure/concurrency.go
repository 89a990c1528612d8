package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Concurrency measures for how long how many operations run at once: a soft gate allows overlap, and it is to be rare. It
// is a [sim.Watcher].
type Concurrency struct {
	// running counts the operations of each member: one that its agent did not survive may go on beside the next.
	running map[int]int
	level   int
	since   policy.Time
	spent   []time.Duration
}

// NewConcurrency returns a measurement of one run.
func NewConcurrency() *Concurrency { return &Concurrency{running: map[int]int{}} }

// Watch implements [sim.Watcher].
func (k *Concurrency) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.EndsRun() && k.running[o.Member] > 0 {
		k.change(o.At, o.Member, -1)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Run {
			k.change(o.At, o.Member, +1)
		}
	}
	return nil
}

func (k *Concurrency) change(now policy.Time, member, by int) {
	k.advance(now)
	k.running[member] += by
	k.level += by
}

func (k *Concurrency) advance(now policy.Time) {
	n := k.level
	for len(k.spent) <= n {
		k.spent = append(k.spent, 0)
	}
	k.spent[n] += now.Sub(k.since)
	k.since = now
}

// Spent returns for each number of operations how long as many ran at once, until now.
func (k *Concurrency) Spent(now policy.Time) []time.Duration {
	k.advance(now)
	return k.spent
}
