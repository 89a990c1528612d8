package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Concurrency measures how many operations run at once, and for how long. A soft gate allows overlap, but it should be
// rare. It is a [sim.Watcher].
type Concurrency struct {
	// running counts the operations of each member: the operation of a dead process may go on beside the next one.
	running map[int]int
	levels  levels
}

// NewConcurrency returns a measurement of one run.
func NewConcurrency() *Concurrency { return &Concurrency{running: map[int]int{}} }

// Watch implements [sim.Watcher].
func (k *Concurrency) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	k.watch(o)
	return nil
}

func (k *Concurrency) watch(o *sim.Occurrence) {
	if o.EndsRun() && k.running[o.Member] > 0 {
		k.change(o.At, o.Member, -1)
	}
	for range o.Did(policy.Run) {
		k.change(o.At, o.Member, +1)
	}
}

func (k *Concurrency) change(now policy.Time, member, by int) {
	k.running[member] += by
	k.levels.set(now, k.levels.level+by)
}

// Spent returns, for each number of operations, for how long that many ran at once, until now.
func (k *Concurrency) Spent(now policy.Time) []time.Duration { return k.levels.until(now) }
