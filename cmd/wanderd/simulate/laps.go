package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// lapWatcher keeps the cluster, to query its members at the end. It is a [sim.Watcher].
type lapWatcher struct{ cluster *sim.Cluster }

func (l *lapWatcher) Watch(c *sim.Cluster, _ *sim.Occurrence) error {
	l.cluster = c
	return nil
}

// median returns the median of the members' laps, and the constant that is too short for it.
func (l *lapWatcher) median() (lap time.Duration, tooShort string) {
	if l.cluster == nil {
		return 0, ""
	}
	var all []wander.Detail
	for i := range l.cluster.Members() {
		if l.cluster.Up(i) {
			all = append(all, wandering.Detail(l.cluster, i))
		}
	}
	if len(all) == 0 {
		return 0, ""
	}
	slices.SortStableFunc(all, func(a, b wander.Detail) int { return cmp.Compare(a.Lap, b.Lap) })
	middle := &all[len(all)/2]
	return middle.Lap, middle.TooShort
}
