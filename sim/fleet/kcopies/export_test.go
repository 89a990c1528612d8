package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/martin"
	"github.com/wanderd/wanderd/sim"
)

// Martin makes a Martin ring.
func (w *World) Martin(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(martin.Descriptor(), 0, func(env sim.Env) policy.Machine {
		return martin.New(ring[env.Index])
	}, watchers)
}
