package check_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/centrallock"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

const lease = 8 * time.Second

// locked is a fleet whose member 0 lends a lock, with every checker of this package.
func locked(seed uint64, hook sim.Hook, machine func(sim.Seat) policy.Machine, watchers ...sim.Watcher) *sim.Cluster {
	lock := centrallock.Settings{Server: sim.Identity(sim.InOrder, seed, 0), Lease: lease}
	if machine == nil {
		machine = func(s sim.Seat) policy.Machine {
			return lock.Machine(s.Seat)
		}
	}
	return sim.New(sim.Config{
		Seed: seed, Members: 5, Order: sim.InOrder, Machine: machine, Family: lock.Family(),
		Network: sim.Network{
			Latency: 5 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Late: 0.02, LateBy: lease, Encode: true,
		},
		Membership:  sim.Membership{GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second},
		Hook:        hook,
		OrphanGrace: lock.OrphanGrace(), Disk: sim.Disk{Takes: time.Millisecond, Slow: 0.1, SlowFor: lease / 4, Fails: 0.02, Hangs: 0.002},
		Demand: sim.Demand{Every: 20 * time.Second, Queued: 0.3, Withdrawn: 0.2}, AskFirst: seed%2 == 0, EarlyWakes: 0.05, StopTimeout: 30 * time.Second,
		Watchers: append([]sim.Watcher{
			check.NewHandoffChecker(), check.NewCustodyChecker(), check.NewSeqChecker(), check.NewGrantChecker(lock.SaveWithin()),
			check.NewIntervalChecker(0, 0, lock.SaveWithin()), check.NewDemandChecker(), check.NewMessageChecker(), check.NewWakeChecker(),
			check.NewTrafficChecker(200, lease), newExclusionChecker(),
		}, watchers...),
	})
}

// served counts the runs of each member, and what is done with the ends of grants.
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
		case policy.Save, policy.Send, policy.Stop, policy.Entrust, policy.Took, policy.Gave, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
		}
	}
	if o.Kind == sim.Stepped && o.Event.Kind == policy.Finished && o.Event.Void {
		s.expired++
	}
	return nil
}

// A protocol that shares nothing with the soft gate keeps every rule of this package, whatever goes wrong; and when all is well again,
// every demand is served.
func TestTheRulesHoldForAProtocolOfItsOwn(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	all := served{}
	for seed := uint64(1); seed <= seeds; seed++ {
		s := &served{runs: map[int]int{}}
		c := locked(seed, sim.Hook{Takes: 6 * time.Second, Spread: 0.9, Deaf: 0.3, KillAfter: time.Minute, Late: 0.02}, nil, s)
		c.Boot()
		end := c.StartFaults(sim.Faults{
			CrashEvery: 5 * time.Minute, DownFor: 10 * time.Second, MidStep: 0.5, HostShare: 0.2,
			PauseEvery: 5 * time.Minute, PauseFor: lease, SleepShare: 0.5, LeaveEvery: 10 * time.Minute, AwayFor: 20 * time.Second,
			CutEvery: 5 * time.Minute, CutFor: lease, OneWayShare: 0.3, DeafEvery: 10 * time.Minute, DeafFor: lease,
			LoseTokenEvery: 5 * time.Minute,
		})
		if err := c.Run(policy.Time(30 * time.Minute)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		end(sim.Network{Latency: time.Millisecond})
		all.extended, all.expired = all.extended+s.extended, all.expired+s.expired
		if err := c.Run(c.Now().Add(time.Minute)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		clear(s.runs)
		if err := c.Run(c.Now().Add(15 * time.Minute)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range c.Members() {
			if s.runs[i] == 0 {
				t.Errorf("seed %d: %s is wanted, and has not run for a quarter of an hour: %s", seed, sim.MemberName(i), c.Machine(i))
			}
		}
	}
	if all.extended < 100 || all.expired < 10 {
		t.Errorf("%d grants were extended, and %d ended a run: too little for this to show anything", all.extended, all.expired)
	}
}

// brokenLock breaks one rule of the lock.
type brokenLock struct {
	policy.Machine
	spoil func(ev *policy.Event, out []policy.Effect) []policy.Effect
}

func (b *brokenLock) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	return b.spoil(ev, b.Machine.Step(now, ev, out))
}

// The same checkers object to locks that break the rules.
func TestABrokenLockIsCaught(t *testing.T) {
	for name, spoil := range map[string]func(*policy.Event, []policy.Effect) []policy.Effect{
		"its runs have no end": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
			for i := range out {
				out[i].Until = 0
			}
			return out
		},
		"it runs without having saved that": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
			for i := range out {
				if out[i].Kind == policy.Save {
					out[i].State.HasRun = false
				}
			}
			return out
		},
		"it does not say that it has given the lock back": func(_ *policy.Event, out []policy.Effect) []policy.Effect {
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
					out[i].Token.Seq = wire.Seq(1)
				}
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 20; seed++ {
				lock := centrallock.Settings{Server: sim.Identity(sim.InOrder, seed, 0), Lease: lease}
				c := locked(seed, sim.Hook{Takes: time.Minute, Deaf: 1}, func(s sim.Seat) policy.Machine {
					return &brokenLock{lock.Machine(s.Seat), spoil}
				})
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
