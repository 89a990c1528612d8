package kcopies

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/lelann"
	"github.com/wanderd/wanderd/policy/kcopies/martin"
	"github.com/wanderd/wanderd/sim"
)

// LeLann makes a ring of Le Lann's.
func (w *World) LeLann(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(lelann.Family(), 0, func(seat sim.Seat) policy.Machine { return lelann.New(ring[seat.Index]) }, watchers)
}

// Martin makes a ring of Martin's.
func (w *World) Martin(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(martin.Family(), 0, func(seat sim.Seat) policy.Machine { return martin.New(ring[seat.Index]) }, watchers)
}
