package ring

import (
	"context"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Scenario is a ring in a world: every parameter of one run. The first token is with member 0, and the ring goes by the
// members' numbers.
type Scenario struct {
	Seed    uint64
	Members int
	Order   sim.Order
	Request ring.Request
	Links   ring.Links
	// Backups is the k of package kcopies. A small ring has fewer: its members less 2.
	Backups int

	Network    sim.Network
	Membership sim.Membership
	Hook       sim.Hook
	Disk       sim.Disk
	// Demand says when members ask. Nobody asks by itself if its Every is zero.
	Demand sim.Demand
	Faults sim.Faults
	// Duration is how long the run lasts.
	Duration time.Duration
}

// timeout is the machines', which the paper does not have.
const timeout = time.Second

// NewCluster makes the world of a scenario; nobody has started.
func (s *Scenario) NewCluster(watchers ...sim.Watcher) *sim.Cluster {
	roster := sim.Roster(s.Order, s.Seed, s.Members)
	return sim.New(sim.Config{
		Descriptor: ring.Descriptor(),
		Seed:       s.Seed, Members: s.Members, Order: s.Order, Network: s.Network, Membership: s.Membership,
		Hook: s.Hook, Disk: s.Disk,
		Demand: s.Demand, Watchers: watchers,
		Machine: func(env sim.Env) policy.Machine {
			return ring.New(ring.Config{
				Gate: wire.GateIDOf("default"), Self: env.Self, Members: roster, Request: s.Request, Links: s.Links,
				Backups: min(s.Backups, max(s.Members-2, 0)), Timeout: timeout, Rejoins: env.Rejoins,
				Entropy: env.Entropy,
			})
		},
	})
}

// PaperLinks are the links of the paper, of a latency: FIFO, and they lose nothing. [PerfectDetector] goes with them.
func PaperLinks(latency time.Duration) sim.Network { return sim.Network{Latency: latency, FIFO: true} }

// PerfectDetector tells a crash at once, but not before the last message of the crashed member has arrived.
func PerfectDetector() sim.Membership { return sim.Membership{Perfect: true} }

// Measure runs the scenario for its Duration, with nobody watching but the watchers. It returns the time that was
// reached: less than the Duration if ctx is cancelled, whose error comes with it. Progress, if there is one, is told
// now and then how far the time has come.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time,
	error,
) {
	c := s.NewCluster(watchers...)
	c.Boot()
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}
