package kcopies

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// World is a ring of one application.
type World struct {
	Seed    uint64
	Members int
	// K is the number of consecutive crashes that the ring survives: at most Members − 2.
	K int
	// A message takes Latency, and up to Jitter more. FIFO keeps the messages of a link in order.
	Latency, Jitter time.Duration
	FIFO            bool
	// Detect is how long after a crash the others are told. They are told later if a message of the crashed member is
	// still in flight.
	Detect time.Duration
	// Hook is the protected operation. Demand describes which members want it.
	Hook   sim.Hook
	Demand sim.Demand
	// Crashes are the crashes: which member, and when.
	Crashes []Crash
	// Duration is the duration of the run.
	Duration time.Duration
}

// Crash is the end of a member. If Before is positive, the crash comes between two effects of a step: just before the
// member carries out the effect with that number, counted from 1.
type Crash struct {
	Member int
	At     time.Duration
	Before int
}

// ring returns what the members know, each with its own place. The token's generator is the member that holds it at the
// start.
func (w *World) ring() []kcopies.Config {
	ids := sim.Roster(sim.InOrder, w.Seed, w.Members)
	ring := make([]kcopies.Config, w.Members)
	for i := range ring {
		ring[i] = kcopies.Config{
			Gate: wire.GateIDOf("default"), Ring: ids, Self: kcopies.Site(i), K: w.K,
			ID: wire.TokenID{Generator: ids[0]},
		}
	}
	return ring
}

// cluster makes the world; no member has started. others is the number of machines besides the ring.
func (w *World) cluster(descriptor policy.Descriptor, others int, machine func(env sim.Env) policy.Machine,
	watchers []sim.Watcher,
) *sim.Cluster {
	return sim.New(sim.Config{
		Seed: w.Seed, Members: w.Members + others, Order: sim.InOrder, Machine: machine, Descriptor: descriptor,
		Network:    sim.Network{Latency: w.Latency, Jitter: w.Jitter, FIFO: w.FIFO},
		Membership: sim.Membership{DetectAfter: w.Detect, Perfect: true},
		Hook:       w.Hook, Demand: w.Demand, AskFirst: true, Watchers: watchers,
	})
}

// CrashEvery lets every member crash, after a random time with the given mean.
func (w *World) CrashEvery(mean time.Duration) {
	dice := rand.New(rand.NewPCG(w.Seed, sim.Mix(1)))
	for i := range w.Members {
		if at := time.Duration(min(dice.ExpFloat64()*float64(mean), math.MaxInt64/2)); at < w.Duration {
			w.Crashes = append(w.Crashes, Crash{Member: i, At: at})
		}
	}
}

// Live starts all members and lets the world live.
func (w *World) Live(ctx context.Context, c *sim.Cluster) error {
	for _, crash := range w.Crashes {
		c.At(policy.Time(crash.At), func() {
			if crash.Before > 0 {
				c.CrashBefore(crash.Member, crash.Before)
				return
			}
			c.Crash(crash.Member)
		})
	}
	c.Boot()
	_, err := c.RunFor(ctx, policy.Time(w.Duration), nil)
	return err
}
