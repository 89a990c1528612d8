package check_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

const lease = 8 * time.Second

// served counts the runs of each member, and what happens to the ends of grants.
type served struct {
	runs     map[int]int
	extended int
	expired  int
}

func (s *served) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for i := range o.Effects {
		switch o.Effects[i].Kind {
		case policy.Run:
			s.runs[o.Member]++
		case policy.Extend:
			s.extended++
		case policy.Save, policy.Send, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce,
			policy.Tell, policy.Gone, policy.Proclaim:
		}
	}
	if o.Kind == sim.Stepped && o.Event.Kind == policy.Finished && o.Event.Void {
		s.expired++
	}
	return nil
}

// gates returns the strict gates over a roster: the specimen, and the gates that operators use.
func gates(roster *ballot.Roster) map[string]policy.Protocol {
	const killAfter, margin, rho, patience = 4 * time.Second, 100 * time.Millisecond, 0.01, 250 * time.Millisecond
	all := map[string]policy.Protocol{
		"specimen": policytest.Settings{
			Roster: roster, Lease: lease, MostLease: lease, KillAfter: killAfter, Margin: margin, Rho: rho,
			Patience: patience,
		},
	}
	s := strict.Settings{
		Moves: strict.Tree, Roster: roster, Backups: 1, Lease: lease, KillAfter: killAfter, Margin: margin, Rho: rho,
		Patience: patience,
	}
	all["tree"] = s
	for _, s.Request = range ring.Requests() {
		s.Moves = strict.Ring
		all["ring, "+s.Request.String()] = s
	}
	return all
}

// strictFleet is a fleet with a strict gate, whose hosts have clocks of different rates.
func strictFleet(t *testing.T, name string, seed uint64, members int, drift float64,
	watchers ...sim.Watcher,
) *sim.Cluster {
	t.Helper()
	return spoilt(t, name, seed, members, drift, func(_ *policy.Event, out []policy.Effect) []policy.Effect {
		return out
	}, watchers...)
}

// spoilt is such a fleet, but its members carry out other effects than their machines want.
func spoilt(t *testing.T, name string, seed uint64, members int, drift float64,
	spoil func(*policy.Event, []policy.Effect) []policy.Effect, watchers ...sim.Watcher,
) *sim.Cluster {
	t.Helper()
	gate := gates(rosterOf(t, seed, members))[name]
	dice := rand.New(rand.NewPCG(seed, 77))
	clocks := make([]sim.Clock, members)
	for i := range clocks {
		clocks[i].Rate = drift * float64(2*dice.IntN(2)-1)
	}
	if !strings.HasPrefix(name, "ring") { // On a ring a request is passed on, and is acknowledged.
		watchers = append(watchers, check.NewMessageChecker())
	}
	return sim.New(sim.Config{
		Seed: seed, Members: members, Order: sim.InOrder,
		Machine:    func(s sim.Env) policy.Machine { return &brokenGate{gate.Machine(s.Env), spoil} },
		Descriptor: gate.Descriptor(), Clocks: clocks,
		Network: sim.Network{
			Latency: 5 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Late: 0.02,
			LateBy: lease, Encode: true,
		},
		Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook:        sim.Hook{Takes: 6 * time.Second, Spread: 0.9, Deaf: 0.3, KillAfter: time.Minute, Late: 0.02},
		Disk:        sim.Disk{Takes: time.Millisecond, Slow: 0.1, SlowFor: lease / 4, Fails: 0.02},
		OrphanGrace: gate.OrphanGrace(), Demand: sim.Demand{Every: 20 * time.Second, Queued: 0.3, Withdrawn: 0.2},
		AskFirst: seed%2 == 0, EarlyWakes: 0.05, StopTimeout: 30 * time.Second,
		Watchers: append([]sim.Watcher{
			check.NewHandoffChecker(), check.NewCustodyChecker(), check.NewWakeChecker(), check.NewDemandChecker(false),
			newExclusionChecker(),
			check.NewSeqChecker(),
		}, watchers...),
	})
}

// faulty lets a fleet live for half an hour with all faults, and then for a while without.
func faulty(c *sim.Cluster, healed func()) error {
	c.Boot()
	end := c.StartFaults(sim.Faults{
		CrashEvery: 5 * time.Minute, DownFor: 10 * time.Second, MidStep: 0.5, HostShare: 0.2,
		PauseEvery: 5 * time.Minute, PauseFor: lease, SleepShare: 0.5, LeaveEvery: 10 * time.Minute,
		AwayFor:  20 * time.Second,
		CutEvery: 5 * time.Minute, CutFor: lease, OneWayShare: 0.3, DeafEvery: 10 * time.Minute, DeafFor: lease,
	})
	if err := c.Run(policy.Time(30 * time.Minute)); err != nil {
		return err
	}
	end(sim.Network{Latency: time.Millisecond})
	if err := c.Run(c.Now().Add(time.Minute)); err != nil {
		return err
	}
	healed()
	return c.Run(c.Now().Add(10 * time.Minute))
}

// A strict gate never has two operations at once, whatever goes wrong, as long as clocks run within their bounds. When
// all is well again, every demand is served.
func TestAStrictGateExcludes(t *testing.T) {
	seeds := deep.Of[uint64](5, 15, 50)
	for name := range gates(nil) {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= seeds; seed++ {
				s := &served{runs: map[int]int{}}
				c := strictFleet(t, name, seed, 3+2*int(seed%2), 0.01, s)
				if err := faulty(c, func() { clear(s.runs) }); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for i := range c.Members() {
					if s.runs[i] == 0 {
						t.Errorf("seed %d: %s is wanted, and has not run for ten minutes: %s", seed, sim.MemberName(i),
							c.Machine(i))
					}
				}
			}
		})
	}
}

// A member asks by itself when its operation is due: min_interval after its last start, which no restart forgets. A
// caller does not wait for that.
func TestAStrictGateKeepsMinInterval(t *testing.T) {
	const minInterval = time.Minute
	for _, name := range []string{"tree", "ring, q"} {
		for seed := uint64(1); seed <= 5; seed++ {
			s := &served{runs: map[int]int{}}
			c := ownOperations(t, name, seed, minInterval, s)
			if err := faulty(c, func() { clear(s.runs) }); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			for i := range c.Members() {
				if s.runs[i] < 8 {
					t.Errorf("%s, seed %d: %s has run %d times in ten minutes", name, seed, sim.MemberName(i),
						s.runs[i])
				}
			}
		}
	}
}

// ownOperations returns a fleet whose members each have an operation of their own.
func ownOperations(t *testing.T, name string, seed uint64, minInterval time.Duration,
	watchers ...sim.Watcher,
) *sim.Cluster {
	t.Helper()
	roster := rosterOf(t, seed, 3)
	gate := gates(roster)[name].(strict.Settings)
	gate.MinInterval = minInterval
	return sim.New(sim.Config{
		Seed: seed, Members: 3, Order: sim.InOrder, Machine: func(s sim.Env) policy.Machine {
			return gate.Machine(s.Env)
		},
		Descriptor: gate.Descriptor(),
		Network: sim.Network{
			Latency: 5 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Encode: true,
		},
		Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook:        sim.Hook{Takes: 2 * time.Second, Spread: 0.5, Late: 0.02},
		Disk:        sim.Disk{Takes: time.Millisecond, Slow: 0.1, SlowFor: lease / 4, Fails: 0.02},
		OrphanGrace: gate.OrphanGrace(), StopTimeout: 30 * time.Second,
		Watchers: append([]sim.Watcher{
			check.NewHandoffChecker(), check.NewCustodyChecker(), check.NewWakeChecker(), newExclusionChecker(),
			check.NewIntervalChecker(minInterval, 0, gate.SaveWithin()),
		}, watchers...),
	})
}

// rosterOf returns the roster of a cluster's members.
func rosterOf(t *testing.T, seed uint64, members int) *ballot.Roster {
	t.Helper()
	names, ids := make([]string, members), make([]wire.MemberID, members)
	for i := range names {
		names[i], ids[i] = sim.MemberName(i), sim.Identity(sim.InOrder, seed, i)
	}
	roster, err := ballot.NewRoster(names, ids)
	if err != nil {
		t.Fatal(err)
	}
	return &roster
}

// brokenGate breaks one rule of a gate.
type brokenGate struct {
	policy.Machine
	spoil func(ev *policy.Event, out []policy.Effect) []policy.Effect
}

func (b *brokenGate) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	return b.spoil(ev, b.Machine.Step(now, ev, out))
}

// The same checkers find an error in gates that break the rules.
func TestABrokenGateIsCaught(t *testing.T) {
	for name, spoil := range map[string]func(*policy.Event, []policy.Effect) []policy.Effect{
		"its runs have no end": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
			for i := range out {
				out[i].Until = 0
			}
			return out
		},
		"it does not say that it has given the token away": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
			for i := range out {
				if out[i].Kind == policy.Gave {
					out[i] = policy.Effect{Kind: policy.Announce}
				}
			}
			return out
		},
		"its numbers stay": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
			for i := range out {
				if out[i].Kind == policy.Run {
					out[i].Token.Seq = 1
				}
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 20; seed++ {
				c := spoilt(t, "specimen", seed, 3, 0.01, spoil)
				c.Boot()
				c.StartFaults(sim.Faults{CutEvery: time.Minute, CutFor: time.Minute})
				if err := c.Run(policy.Time(30 * time.Minute)); err != nil {
					t.Log(err)
					return
				}
			}
			t.Error("no checker objects")
		})
	}
}

// A strict gate rests on the rates of clocks.
func TestAStrictGateDoesNotExcludeWithWildClocks(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		if err := faulty(strictFleet(t, "specimen", seed, 3, 0.5), func() {}); err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("clocks of different rates change nothing")
}
