package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Concurrency measures for how long how many operations run at once: a soft gate allows overlap, and it is to be rare. It
// is a [Watcher].
type Concurrency struct {
	running map[int]bool
	since   policy.Time
	spent   []time.Duration
}

// NewConcurrency returns a measurement of one run.
func NewConcurrency() *Concurrency { return &Concurrency{running: map[int]bool{}} }

// Watch measures.
func (k *Concurrency) Watch(_ *Cluster, o *Occurrence) error {
	if o.Ends() || o.Kind == Stepped && o.Event.Kind == policy.Finished {
		k.set(o.At, o.Member, false)
	}
	if o.Kind != Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Run {
			k.set(o.At, o.Member, true)
		}
	}
	return nil
}

func (k *Concurrency) set(now policy.Time, member int, running bool) {
	if k.running[member] == running {
		return
	}
	k.advance(now)
	if running {
		k.running[member] = true
	} else {
		delete(k.running, member)
	}
}

func (k *Concurrency) advance(now policy.Time) {
	n := len(k.running)
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
