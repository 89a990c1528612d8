package together

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/sim"
)

// Strict is which gates of a scenario are strict, and what their leases rest on.
type Strict struct {
	// Upgrade is true if the gate of the upgrade is strict. Plain is how many of the gates of callers are: the first
	// ones.
	Upgrade bool
	Plain   int
	// Lease is for how long a majority lends the right to run.
	Lease time.Duration
	// Moves is how the token goes round, in a ring for whom Request says.
	Moves   strict.Moves
	Request ring.Request
	// Drift is the largest error of a clock's rate, which is also what the gates count on.
	Drift float64
}

// any reports whether a gate is strict at all.
func (s *Strict) any() bool { return s.Upgrade || s.Plain > 0 }

// drawStrict draws which gates are strict. The runs of a strict gate have no place in a zone, and one at a time of them
// goes on anyway.
func (s *Scenario) drawStrict(d sim.Dice) {
	s.Strict = Strict{
		Upgrade: d.Sometimes(0.4), Plain: d.IntN(s.Plain + 1), Lease: d.Time(5*time.Second, 40*time.Second),
		Moves: strict.Tree, Drift: d.Maybe(0.7, 0.001, 0.03),
	}
	if d.Sometimes(0.6) { // In the other ring the token always moves, which takes long to simulate.
		s.Strict.Moves, s.Strict.Request = strict.Ring, []ring.Request{ring.Martin, ring.Q, ring.D}[d.IntN(3)]
	}
	if !s.Strict.Upgrade {
		s.Strict.Plain = max(s.Strict.Plain, 1)
	} else {
		s.Zones, s.PerZone, s.Slots, s.With = 0, 0, 1, max(s.With, 1)
	}
}

// strict is the protocol of a strict gate of all hosts, whose cluster has a seed.
func (s *Scenario) strict(seed uint64, interval time.Duration) policy.Protocol {
	names, ids := make([]string, s.Hosts), sim.Roster(sim.Shuffled, seed, s.Hosts)
	for h := range names {
		names[h] = sim.MemberName(h)
	}
	roster, err := ballot.NewRoster(names, ids)
	if err != nil {
		panic(err)
	}
	made := strict.Settings{
		Moves: s.Strict.Moves, Request: s.Strict.Request, Roster: &roster, Backups: min(1, max(s.Hosts-2, 0)),
		Lease: s.Strict.Lease, KillAfter: s.Strict.Lease / 4, Margin: s.Strict.Lease / 32,
		Patience: s.Strict.Lease / 32, Rho: s.Strict.Drift, MinInterval: interval,
		Once: s.Once && interval > 0,
	}
	for _, id := range ids {
		if err := made.Check(id); err != nil {
			panic(err)
		}
	}
	return made
}

// clocks are those of the hosts of a gate: mostly as fast or as slow as a clock may be.
func (s *Scenario) clocks(g *gateOf) (all []sim.Clock) {
	if s.Strict.Drift == 0 {
		return nil
	}
	for _, h := range g.hosts {
		d := sim.NewDice(s.Seed+uint64(h)<<32, clocksLabel)
		rate := s.Strict.Drift * (2*d.Float64() - 1)
		if d.Sometimes(0.6) {
			rate = s.Strict.Drift * float64(2*d.IntN(2)-1)
		}
		all = append(all, sim.Clock{Rate: rate})
	}
	return all
}

// settles is how much longer than a soft one a strict gate needs until it serves after a fault, and how much longer
// each of its grants takes: those who hear nobody propose rarely, and what a dead holder was lent is lent for a lease.
func (s *Strict) settles() (first, each time.Duration) {
	if !s.any() {
		return 0, 0
	}
	return 40 * s.Lease, 2 * s.Lease
}
