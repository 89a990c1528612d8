// Package call runs members of package policy/call in virtual time: with callers, crashes and faults, and with checkers
// of its own.
//
// Its decisions, in docs/decisions: 094, 095.
package call

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Scenario is a fleet in a world: every parameter of one run.
type Scenario struct {
	Seed uint64
	// Reseed changes the seed at some moment: see [sim.Reseed].
	Reseed  sim.Reseed
	Members int
	// Skip, MinInterval, MaxInterval and RetryAfter are those of [call.Settings], and so is Backups.
	Skip, MinInterval, MaxInterval, RetryAfter time.Duration
	Backups                                    int
	// OnLost, Slots and SlotsShare are those of [call.Settings]. MixedSlots is true if every third member has one slot
	// less.
	OnLost            soft.OnLost
	Slots, SlotsShare int
	MixedSlots        bool
	// Keep is that of [call.Settings].
	Keep time.Duration
	// Windows are when the members may run, by their wall clocks; nil means always. A run begins on a Saturday at
	// midnight, in UTC.
	Windows *window.Set
	// Differ is how many times shorter skip and min_interval of every third member are; these have another number of
	// homes, too. Zero changes nothing.
	Differ float64
	Reload Reload
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
	// SlowDisk is the disk of one member, which the seed draws, if that disk differs from the others.
	SlowDisk  sim.Disk
	Demand    sim.Demand
	Operators sim.Operators
	Ready     sim.Ready
	Shape     sim.Shape
	Faults    sim.Faults
	// Core is for what part of the fleet the faults end first.
	Core sim.Core
	// Duration is how long there are faults.
	Duration time.Duration
}

// backPatiences is how soon a token is back whose holder has crashed, in patiences with a round trip, once all have
// seen that, and its caller calls again. leastPauses is the least pause of a caller, in skips: "max(8 skip, waiters ×
// skip)" (R3).
const (
	backPatiences = 5
	leastPauses   = 8
)

// stopTimeout bounds a graceful stop.
const stopTimeout = 20 * time.Second

// Reload is a reload of the constants of all members, one after the other, once.
type Reload struct {
	// At is when the first member may get them, Within is how much later the last one does. Zero means never.
	At, Within time.Duration
	// MinInterval, MaxInterval and Backups are the new ones.
	MinInterval, MaxInterval time.Duration
	Backups                  int
}

// settings are the settings of the gate.
func (s *Scenario) settings() *call.Settings {
	all := &call.Settings{
		Skip: s.Skip, MinInterval: s.MinInterval, MaxInterval: s.MaxInterval, RetryAfter: s.RetryAfter,
		Backups: s.Backups, OnLost: s.OnLost, Slots: s.Slots, SlotsShare: s.SlotsShare, Keep: s.Keep,
		Soak: s.Hook.Soak,
	}
	if s.Windows != nil {
		all.Windows = *s.Windows
	}
	return all
}

// slots is how many tokens there are when all members are here.
func (s *Scenario) slots() int {
	if s.SlotsShare > 0 {
		return check.ShareOf(s.Members, s.SlotsShare)
	}
	return max(s.Slots, 1)
}

// settingsOf are the settings of one member, before or after the reload.
func (s *Scenario) settingsOf(member int, reloaded bool) *call.Settings {
	own := s.settings()
	if reloaded {
		own.MinInterval, own.MaxInterval, own.Backups = s.Reload.MinInterval, s.Reload.MaxInterval, s.Reload.Backups
	}
	if s.MixedSlots && member%3 == differs {
		own.Slots = max(own.Slots-1, 1)
	}
	if s.Differ > 0 && member%3 == differs {
		own.Skip = time.Duration(float64(own.Skip) / s.Differ)
		own.MinInterval = time.Duration(float64(own.MinInterval) / s.Differ)
		own.Backups = 1 + own.Backups%guardian.MaxBackups
	}
	return own
}

// differs is the remainder modulo 3 of the members that have other constants.
const differs = 2

// reloadsAt is when a member gets its new constants.
func (s *Scenario) reloadsAt(member int) policy.Time {
	if s.Reload.At == 0 {
		return policy.Never
	}
	share := float64(sim.Mix(s.Seed^sim.Mix(uint64(member)+1<<40))) / (1 << 64)
	return policy.Time(s.Reload.At + time.Duration(share*float64(s.Reload.Within)))
}

// NewCluster makes the world of a scenario. No member has started.
func (s *Scenario) NewCluster(watchers ...sim.Watcher) *sim.Cluster {
	var c *sim.Cluster
	cfg := sim.Config{
		Descriptor: call.Descriptor(), Seed: s.Seed, Reseed: s.Reseed, Members: s.Members, Network: s.Network,
		Membership: s.Membership, Hook: s.Hook, OrphanGrace: s.settings().OrphanGrace(), Disk: s.Disk,
		Demand: s.Demand, AskFirst: s.AskFirst, Operators: s.Operators, Ready: s.Ready, Shape: s.Shape,
		EarlyWakes: s.EarlyWakes, StopTimeout: stopTimeout, Watchers: watchers,
		Machine: func(env sim.Env) policy.Machine {
			env.WaitsAlone, env.OnDemand = s.WaitAlone, s.OnDemand
			settings := s.settingsOf(env.Index, c.Now() >= s.reloadsAt(env.Index))
			return settings.Machine(env.Env)
		},
	}
	if s.ClockSkew > 0 {
		dice := rand.New(rand.NewPCG(s.Seed, sim.Mix(20)))
		for range s.Members {
			skew := (dice.Float64() - 0.5) * float64(s.ClockSkew)
			cfg.Clocks = append(cfg.Clocks, sim.Clock{Skew: time.Duration(skew)})
		}
	}
	c = sim.New(cfg)
	if s.SlowDisk != (sim.Disk{}) {
		c.SetDisk(int(s.Seed%uint64(s.Members)), s.SlowDisk)
	}
	for i := range s.Members {
		if at := s.reloadsAt(i); at < policy.Never {
			c.At(at, func() { c.Tune(i, *s.settingsOf(i, true)) })
		}
	}
	return c
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
	p, startWithin := call.Patience(s.Skip), s.settings().SaveWithin()
	each := func(one func() sim.Watcher) sim.Watcher { return sim.EachSlot(s.slots(), one) }
	all := []sim.Watcher{
		check.NewWakeChecker(), check.NewMessageChecker(), each(check.NewCustodyChecker), each(check.NewHandoffChecker),
		each(func() sim.Watcher { return check.NewCommitChecker(s.leastPatience()) }), each(check.NewSeqChecker),
		each(s.grantChecker),
		check.NewIntervalChecker(s.leastInterval(), s.RetryAfter, startWithin), check.NewDemandChecker(!s.OnDemand),
		check.NewConductChecker(), check.NewStatusChecker(startWithin), newWaitersChecker(),
		newOnceChecker(s.slots()), each(func() sim.Watcher { return newLostChecker(s.OnLost) }),
	}
	all = append(all, check.NewShapeCheckers(&s.Shape, s.Members, &s.Membership)...)
	if s.Hook.Soak > 0 {
		all = append(all, check.NewSoakChecker(s.Hook.Soak, guardian.SoakTold))
	}
	if s.Operators != (sim.Operators{}) || s.Shape.Canaries > 0 {
		m := &s.Membership
		all = append(all, check.NewDirectiveChecker(m.GossipAfter+m.RejoinAfter+2*m.Spread))
	}
	if s.Ready != (sim.Ready{}) {
		all = append(all, check.NewReadyChecker(s.Ready.Again+s.Ready.Timeout))
	}
	if s.Demand.Beside {
		exact := s.slots() == 1 && s.Windows == nil && s.Reload == Reload{} && s.Keep == 0
		all = append(all, check.NewTurnsChecker(), check.NewScheduleChecker(exact, guardian.NoteUnused))
	}
	if n := &s.Network; n.Late == 0 && n.Distant == 0 && s.Core.Of == 0 && !s.MixedSlots && s.Disk == (sim.Disk{}) &&
		s.SlowDisk == (sim.Disk{}) {
		all = append(all, check.NewQuantityChecker(s.slots(), s.Faults.CutParts))
	}
	if s.crashOnly() {
		m := &s.Membership
		seen := m.GossipAfter + max(m.DetectAfter+10*m.DetectMore, m.CutAfter) + m.Spread
		pause := policy.Times(max(leastPauses, s.Members), s.Skip)
		all = append(all, newBackChecker(seen+pause+backPatiences*(p+s.Network.RoundTrip())))
	}
	if s.SlotsShare > 0 {
		all = append(all, check.NewShareChecker(s.SlotsShare, startWithin))
	}
	if s.Windows != nil {
		all = append(all, newWindowChecker(*s.Windows, startWithin))
	}
	if s.tidy() {
		m := &s.Membership
		all = append(all, check.NewKeptChecker(s.Keep, p, m.RejoinAfter+m.GossipAfter+m.Spread+3*p,
			s.Members > guardian.MostAsked))
	}
	if s.Calm() {
		all = append(all, newOverlapChecker(), newTurnChecker(20*p+time.Duration(2*s.Members+2)*(s.Hook.Longest()+p)))
		// Who does not have a slot does not say that its token is not there; nor does who does not count it yet.
		if !s.MixedSlots && s.SlotsShare == 0 {
			all = append(all, newIdleChecker(s.slots(), 6*(p+s.Network.RoundTrip())))
		}
		if s.OnDemand {
			all = append(all, newVainChecker(p))
			if most, ok := s.soleCost(); ok {
				all = append(all, newSoleChecker(most))
			}
			// Who waits while it runs calls when it has run. Where datagrams take long, a home hears too late of one.
			near := 4*(s.Network.Latency+s.Network.Jitter) <= s.Skip
			if s.slots() == 1 && s.SlotsShare == 0 && s.Demand.Queued == 0 && near {
				const skips = 6
				all = append(all, newOrderChecker(skips*s.Skip+p))
			}
		}
		return all
	}
	return append(all, check.NewTrafficChecker(s.slots()*(100+40*s.Members), s.leastPatience()))
}

// soleCost is what a call may cost at rest: see [newSoleChecker]. ok is false if that has no bound, because the number
// of tokens changes, or one is looked for among many members. Where there are several tokens, the one that comes may
// have to be looked for first; and where datagrams take long, or not all as long, one may be sent again before it is
// answered.
func (s *Scenario) soleCost() (most cost, ok bool) {
	const hops, more = 6, 2
	hop := s.Network.Latency + s.Network.Jitter
	most = cost{silence: 2 * call.Patience(s.Skip), time: hops * hop}
	switch {
	case s.SlotsShare > 0, s.slots() > 1 && s.Members > guardian.MostAsked:
		return most, false
	case s.slots() > 1, 50*hop > s.Skip:
		most.time += more * hop
	case s.Hook.Soak > 0, s.Network.Duplicate > 0: // More is told, or answered.
	case s.Network.Jitter == 0:
		most.datagrams = 7 + 2*s.Backups
	default:
		most.datagrams = 12 + 2*s.Backups
	}
	return most, true
}

// grantChecker checks each member by its own patience.
func (s *Scenario) grantChecker() sim.Watcher {
	usual := check.NewGrantChecker(s.settings().SaveWithin())
	if s.Differ == 0 {
		return usual
	}
	other := check.NewGrantChecker(s.settingsOf(differs, false).SaveWithin())
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.Member%3 == differs {
			return other.Watch(c, o)
		}
		return usual.Watch(c, o)
	})
}

// leastInterval is the shortest min_interval of a member.
func (s *Scenario) leastInterval() time.Duration {
	least := s.MinInterval
	if s.Reload.At > 0 {
		least = min(least, s.Reload.MinInterval)
	}
	return time.Duration(float64(least) / max(s.Differ, 1))
}

// leastPatience is the shortest patience of a member.
func (s *Scenario) leastPatience() time.Duration {
	return call.Patience(time.Duration(float64(s.Skip) / max(s.Differ, 1)))
}

// Calm reports whether nothing goes wrong: then at most one member runs at once.
func (s *Scenario) Calm() bool {
	return s.Faults == (sim.Faults{}) && s.Network.Loss == 0 && s.Network.Late == 0 && s.Network.Broken == 0 &&
		s.StartWithin == 0 && s.Disk == sim.Disk{} && s.SlowDisk == sim.Disk{} && s.Operators == sim.Operators{} &&
		s.Ready == sim.Ready{} && s.Windows == nil && s.Differ == 0 && s.Network.Distant == 0 &&
		s.Network.Replay == 0 && s.Shape == sim.Shape{} && s.Reload == Reload{} && s.RetryAfter == 0 &&
		s.Keep == 0 && s.Core.Of == 0
}

// tidy reports whether nobody runs beside a member that is away under its grant: members crash and restart, but hear
// each other, and hosts come back in time. One that comes back late may meet nobody who knows that others have gone on.
func (s *Scenario) tidy() bool {
	n, f := s.Network, s.Faults
	n.Encode, n.Latency, n.Jitter, n.Duplicate = false, 0, 0, 0
	f.CrashEvery, f.DownFor, f.MidStep, f.HostShare, f.Restart = 0, 0, 0, 0, sim.Restart{}
	return s.Keep > 0 && s.Core.Of == 0 && n == (sim.Network{}) && f == (sim.Faults{}) && s.Disk == (sim.Disk{}) &&
		s.SlowDisk == (sim.Disk{}) && s.Differ == 0 && s.StartWithin == 0 && s.Hook.Reboots.Late == 0
}

// Explore runs the scenario: first there are faults. If there is a core, it is healed, and each of its members must be
// served. Then everything is healed, and every member must be served. Then nobody wants a run any more, and the fleet
// must fall silent.
func (s *Scenario) Explore(watchers ...sim.Watcher) error {
	served, m := check.NewServed(s.Members), &Meter{}
	c := s.NewCluster(slices.Concat(s.checkers(), []sim.Watcher{served, m}, watchers)...)
	s.start(c)
	end := c.StartFaults(s.Faults)
	if err := c.Run(policy.Time(s.Duration)); err != nil {
		return err
	}
	if s.Core.Of == 0 {
		end(s.Network.Sound())
	} else if err := s.healCore(c, served); err != nil {
		return err
	}
	healed := c.Now()
	if err := c.Run(healed.Add(s.bound())); err != nil {
		return err
	}
	if err := served.Since(c, healed, nil); err != nil || !s.OnDemand {
		return err
	}
	c.EndDemand()
	if err := c.Run(c.Now().Add(s.bound())); err != nil {
		return err
	}
	sent, played := m.Sent, m.Played
	if err := c.Run(c.Now().Add(time.Hour)); err != nil {
		return err
	}
	if n := m.Played - played; m.Sent > sent+mostAnswers*n {
		return fmt.Errorf("silence: nobody waits, and in an hour %d datagrams are sent, and %d were played back",
			m.Sent-sent, n)
	}
	return s.allCount(c)
}

// mostAnswers is how many datagrams answer one that was played back, at most: if it offers a token, its Ack is repeated
// after twice as long each time, until the patience is over.
const mostAnswers = 12

// healCore heals a core, and then the others.
func (s *Scenario) healCore(c *sim.Cluster, served *check.Served) error {
	core := s.Core.In(s.Seed, s.Members)
	c.HealCore(core, s.Core.Stays, s.Network.Sound(), s.bound())
	healed := c.Now()
	if err := c.Run(healed.Add(s.bound())); err != nil {
		return err
	}
	err := served.Since(c, healed, func(i int) bool { return core[i] && hasHomeIn(c, i, core) })
	c.EndStanding(s.Network.Sound())
	return err
}

// bound is how long a healed fleet may need until every wait that began before has been served.
func (s *Scenario) bound() time.Duration {
	m, p := s.Membership, call.Patience(s.Skip)
	if s.Operators != (sim.Operators{}) || s.Shape.Canaries > 0 {
		p += sim.ResumedAfter / 60
	}
	p += s.Network.RoundTrip()
	settle := m.RejoinAfter + max(m.DetectAfter+10*m.DetectMore, m.CutAfter) + m.Spread + stopTimeout
	if s.Windows != nil {
		settle += 2 * windowedFor * time.Minute
	}
	settle += 2*s.Shape.FirstWait + 10*(m.GossipAfter+m.Spread)
	if s.Keep > 0 {
		settle += 4*s.Keep + s.Hook.Reboots.Looked
	}
	return settle + s.Hook.Longest() + 2*s.MaxIntervalInForce() + 60*p +
		time.Duration(4*s.Members)*(s.Hook.Longest()+2*p) + max(s.MinInterval, s.Reload.MinInterval)
}

// MaxIntervalInForce returns the longest max_interval of a member, by default their own.
func (s *Scenario) MaxIntervalInForce() time.Duration {
	return max(s.MaxInterval, s.Reload.MaxInterval, 3*s.MinInterval, 3*s.Reload.MinInterval,
		60*call.Patience(s.Skip))
}
