package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Served knows since when each member waits for a run. It is a [sim.Watcher].
type Served struct{ waits []policy.Time }

// NewServed returns one for a fleet of so many members, of which nobody waits.
func NewServed(members int) *Served {
	return &Served{slices.Repeat([]policy.Time{policy.Never}, members)}
}

// Watch implements [sim.Watcher].
func (k *Served) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Ends(), o.On(policy.Unwanted), o.Does(policy.Run):
		k.waits[o.Member] = policy.Never
	case o.On(policy.Wanted):
		k.waits[o.Member] = min(k.waits[o.Member], o.At)
	}
	return nil
}

// Waits returns the first member that is up and has waited since that moment, and for how long; or -1. One that was
// away for more than half of the time since then does not count. of chooses among the members, unless it is nil.
func (k *Served) Waits(c *sim.Cluster, since policy.Time, of func(member int) bool) (member int, long time.Duration) {
	for i, began := range k.waits {
		if began <= since && c.Up(i) && c.Now().Sub(c.AwayUntil(i)) >= c.Now().Sub(since)/2 && (of == nil || of(i)) {
			return i, c.Now().Sub(began)
		}
	}
	return -1, 0
}

// Since checks that nobody has waited since the faults ended, or nobody in a core if they ended there.
func (k *Served) Since(c *sim.Cluster, healed policy.Time, inCore func(member int) bool) error {
	rule, where := "served", ""
	if inCore != nil {
		rule, where = "core", " in the core"
	}
	if i, long := k.Waits(c, healed, inCore); i >= 0 {
		return fmt.Errorf("%s: the faults have ended %v ago%s, and %s has waited for %v", rule, c.Now().Sub(healed),
			where, sim.MemberName(i), long)
	}
	return nil
}
