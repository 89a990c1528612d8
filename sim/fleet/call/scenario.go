// Package call runs members of package policy/call in virtual time: with callers, crashes and faults, and with checkers
// of its own.
//
// Its decisions, in docs/decisions: 094.
package call

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Scenario is a fleet in a world: every parameter of one run.
type Scenario struct {
	Seed    uint64
	Members int
	// Skip, MinInterval and MaxInterval are those of [call.Settings], and so is Backups.
	Skip, MinInterval, MaxInterval time.Duration
	Backups                        int
	// OnLost is that of [call.Settings].
	OnLost soft.OnLost
	// Op is how long the operation takes.
	Op time.Duration
	// OnDemand is true if members run only for callers. Otherwise they also have an operation of their own.
	OnDemand bool
	// WaitAlone makes members that have never seen another one wait.
	WaitAlone bool
	// StartWithin is the time within which the members start. If it is zero, all start at once with a complete
	// membership.
	StartWithin time.Duration
	// ClockSkew is the largest error of a wall clock at the start.
	ClockSkew time.Duration
	// AskFirst and EarlyWakes are those of [sim.Config].
	AskFirst   bool
	EarlyWakes float64

	Network    sim.Network
	Membership sim.Membership
	Hook       sim.Hook
	Disk       sim.Disk
	Demand     sim.Demand
	Operators  sim.Operators
	Ready      sim.Ready
	Faults     sim.Faults
	// Duration is how long there are faults.
	Duration time.Duration
}

// stopTimeout bounds a graceful stop.
const stopTimeout = 20 * time.Second

// settings are the settings of the gate.
func (s *Scenario) settings() *call.Settings {
	return &call.Settings{
		Skip: s.Skip, MinInterval: s.MinInterval, MaxInterval: s.MaxInterval, Backups: s.Backups, OnLost: s.OnLost,
	}
}

// NewCluster makes the world of a scenario. No member has started.
func (s *Scenario) NewCluster(watchers ...sim.Watcher) *sim.Cluster {
	settings := s.settings()
	cfg := sim.Config{
		Descriptor: call.Descriptor(), Seed: s.Seed, Members: s.Members, Network: s.Network, Membership: s.Membership,
		Hook: s.Hook, OrphanGrace: settings.OrphanGrace(), Disk: s.Disk, Demand: s.Demand, AskFirst: s.AskFirst,
		Operators: s.Operators, Ready: s.Ready,
		EarlyWakes: s.EarlyWakes, StopTimeout: stopTimeout, Watchers: watchers,
		Machine: func(env sim.Env) policy.Machine {
			env.WaitsAlone, env.OnDemand = s.WaitAlone, s.OnDemand
			return call.New(call.Config{Env: env.Env, Settings: settings})
		},
	}
	if s.ClockSkew > 0 {
		dice := rand.New(rand.NewPCG(s.Seed, sim.Mix(20)))
		for range s.Members {
			skew := (dice.Float64() - 0.5) * float64(s.ClockSkew)
			cfg.Clocks = append(cfg.Clocks, sim.Clock{Skew: time.Duration(skew)})
		}
	}
	return sim.New(cfg)
}

// start starts the members.
func (s *Scenario) start(c *sim.Cluster) {
	if s.StartWithin == 0 {
		c.Boot()
		return
	}
	dice := rand.New(rand.NewPCG(s.Seed, sim.Mix(21)))
	for i := range s.Members {
		c.After(time.Duration(dice.Float64()*float64(s.StartWithin)), func() {
			if !c.Up(i) {
				c.Start(i)
			}
		})
	}
}

// checkers are those that hold for every scenario.
func (s *Scenario) checkers() []sim.Watcher {
	all := []sim.Watcher{
		check.NewWakeChecker(), check.NewMessageChecker(), check.NewCustodyChecker(), check.NewHandoffChecker(),
		check.NewSeqChecker(), check.NewGrantChecker(s.settings().SaveWithin()),
		check.NewIntervalChecker(s.MinInterval, 0, s.settings().SaveWithin()),
		check.NewDemandChecker(!s.OnDemand), newLostChecker(s.OnLost),
	}
	if p := call.Patience(s.Skip); s.Calm() {
		all = append(all, newOverlapChecker(), newTurnChecker(20*p+time.Duration(2*s.Members+2)*(s.Hook.Longest()+p)))
	} else {
		all = append(all, check.NewTrafficChecker(100+40*s.Members, p))
	}
	return all
}

// Calm reports whether nothing goes wrong: then at most one member runs at once.
func (s *Scenario) Calm() bool {
	return s.Faults == (sim.Faults{}) && s.Network.Loss == 0 && s.Network.Late == 0 && s.Network.Broken == 0 &&
		s.StartWithin == 0 && s.Disk == sim.Disk{} && s.Operators == sim.Operators{} &&
		s.Ready == sim.Ready{}
}

// Explore runs the scenario: first there are faults. Then everything is healed, and every member must be served. Then
// nobody wants a run any more, and the fleet must fall silent.
func (s *Scenario) Explore(watchers ...sim.Watcher) error {
	served, m := newServed(s.Members), &Meter{}
	c := s.NewCluster(slices.Concat(s.checkers(), []sim.Watcher{served, m}, watchers)...)
	s.start(c)
	end := c.StartFaults(s.Faults)
	if err := c.Run(policy.Time(s.Duration)); err != nil {
		return err
	}
	end(s.Network.Sound())
	healed := c.Now()
	if err := c.Run(healed.Add(s.bound())); err != nil {
		return err
	}
	if err := served.since(c, healed); err != nil || !s.OnDemand {
		return err
	}
	c.EndDemand()
	if err := c.Run(c.Now().Add(s.bound())); err != nil {
		return err
	}
	sent := m.Sent
	if err := c.Run(c.Now().Add(time.Hour)); err != nil {
		return err
	}
	if m.Sent > sent {
		return fmt.Errorf("silence: nobody waits, and in an hour %d datagrams are sent", m.Sent-sent)
	}
	return nil
}

// bound is how long a healed fleet may need until every wait that began before has been served.
func (s *Scenario) bound() time.Duration {
	m, p := s.Membership, call.Patience(s.Skip)
	if s.Operators != (sim.Operators{}) {
		p += sim.ResumedAfter / 60
	}
	settle := m.RejoinAfter + max(m.DetectAfter+10*m.DetectMore, m.CutAfter) + m.Spread + stopTimeout
	return settle + s.Hook.Longest() + 2*s.maxInterval() + 60*p +
		time.Duration(4*s.Members)*(s.Hook.Longest()+2*p) + s.MinInterval
}

func (s *Scenario) maxInterval() time.Duration {
	if s.MaxInterval > 0 {
		return s.MaxInterval
	}
	return max(3*s.MinInterval, 60*call.Patience(s.Skip))
}
