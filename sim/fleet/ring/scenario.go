package ring

import (
	"context"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Scenario is a ring in a world: every parameter of one run. Member 0 has the first token, and the order of the ring is
// that of the members' numbers.
type Scenario struct {
	Seed    uint64
	Members int
	Order   sim.Order
	Request ring.Request
	Links   ring.Links
	// Backups is the k of package kcopies. A small ring has fewer: the number of its members less 2.
	Backups int

	Network    sim.Network
	Membership sim.Membership
	Hook       sim.Hook
	Disk       sim.Disk
	// Demand describes when members ask. If its Every is zero, members ask only when they are told to.
	Demand sim.Demand
	Faults sim.Faults
	// Duration is the duration of the run.
	Duration time.Duration
}

// timeout is the machines' timeout. The paper has none.
const timeout = time.Second

// NewCluster makes the world of a scenario. No member has started.
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

// PaperLinks returns the links of the paper, with the given latency: they are FIFO and lose nothing. [PerfectDetector]
// goes with them.
func PaperLinks(latency time.Duration) sim.Network { return sim.Network{Latency: latency, FIFO: true} }

// PerfectDetector reports a crash at once, but not before the last message of the crashed member has arrived.
func PerfectDetector() sim.Membership { return sim.Membership{Perfect: true} }

// Measure runs the scenario for its Duration, without checkers. It returns the time that was reached. That is less than
// the Duration if ctx is cancelled; then its error is returned too. progress, if not nil, is called now and then with
// the time that was reached.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time,
	error,
) {
	c := s.NewCluster(watchers...)
	c.Boot()
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}
