package wander

import (
	"math"
	"reflect"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/sim/trace"
)

// Scenario is a fleet of the wandering token in a world: every parameter of one run.
type Scenario struct {
	Seed    uint64
	Members int
	Order   sim.Order
	// The gate's constants.
	Skip, Op, MinInterval, MaxInterval time.Duration
	// RetryAfter is that of [wander.Settings].
	RetryAfter time.Duration
	// Windows are when the members may run, by their wall clocks; nil means always. A run begins on a Saturday at
	// midnight, in UTC.
	Windows *window.Set
	Walk    wander.Walk
	// Backups and OnLost are those of [wander.Settings].
	Backups int
	OnLost  soft.OnLost
	// AskBeforeRun and Keep are those of [wander.Settings].
	AskBeforeRun bool
	Keep         time.Duration
	// Slots is the number of tokens; zero means one. SlotsShare is that of [wander.Settings].
	Slots, SlotsShare int
	// MixedSlots gives every third member one token less.
	MixedSlots bool
	// Differ is how many times shorter max_interval and op of every third member are, as in the middle of a roll-out.
	// Zero and 1 change nothing.
	Differ float64
	// MeasureOp is true if the members measure the operation. Otherwise they are told Op.
	MeasureOp bool
	// WaitAlone makes members that have never seen another one wait.
	WaitAlone bool
	// StartWithin is the time within which the members start and find each other. If it is zero, all start at once with
	// a complete membership.
	StartWithin time.Duration
	// TokenInPlace is true if member 0 makes the first token at once, as in the paper. Otherwise the first in rank
	// makes it after a while. It needs a StartWithin of zero and no WaitAlone.
	TokenInPlace bool
	// ClockSkew is the largest error of a wall clock at the start. ClockDrift is the largest error of its rate.
	ClockSkew  time.Duration
	ClockDrift float64
	// LongLap is true if nothing goes wrong, but most members meet no token for several times max_interval: see
	// [NewCrowdChecker].
	LongLap bool
	// SameTies makes all guardians that revive a token draw the same tie. Without it, two of them do so once in 256
	// times.
	SameTies bool
	// AskFirst and EarlyWakes are those of [Config].
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
	Standing  Standing
	// Core is for what part of the fleet the faults end first.
	Core sim.Core
	// Duration is the duration of the run in Measure, and of the faults in Explore.
	Duration time.Duration
}

// NewCluster makes the world of a scenario. No member has started.
func (s *Scenario) NewCluster(watchers ...sim.Watcher) *sim.Cluster {
	// All machines in one array take less memory than one by one. A member keeps its place in all its lives.
	machines := make([]wander.Machine, s.Members)
	laps, settings := new(wander.Laps), s.settings()
	cfg := sim.Config{
		Descriptor: wander.Descriptor(),
		Seed:       s.Seed, Members: s.Members, Order: s.Order, Network: s.Network, Membership: s.Membership,
		Hook: s.Hook, OrphanGrace: settings.OrphanGrace(), Disk: s.Disk,
		Demand: s.Demand, Operators: s.Operators, Ready: s.Ready, Shape: s.Shape,
		AskFirst: s.AskFirst, EarlyWakes: s.EarlyWakes, StopTimeout: stopTimeout, Watchers: watchers,
		Machine: func(env sim.Env) policy.Machine {
			if s.SameTies {
				env.Entropy = sameTies{env.Entropy}
			}
			env.WaitsAlone, env.OnDemand = s.WaitAlone, s.onDemand()
			return s.machine(env.Index, wander.Config{
				Env: env.Env, Settings: s.settingsOf(env.Index, settings), Laps: laps,
			}, &machines[env.Index])
		},
	}
	if s.ClockSkew > 0 || s.ClockDrift > 0 {
		cfg.Clocks = make([]sim.Clock, s.Members)
		for i := range cfg.Clocks {
			cfg.Clocks[i] = sim.Clock{
				Skew:  time.Duration(centred(s.Seed, 2*i) * float64(s.ClockSkew)),
				Drift: centred(s.Seed, 2*i+1) * s.ClockDrift,
			}
		}
	}
	c := sim.New(cfg)
	if s.SlowDisk != (sim.Disk{}) {
		c.SetDisk(s.one(), s.SlowDisk)
	}
	return c
}

// one returns the member that the seed draws for what only one member has.
func (s *Scenario) one() int { return int(sim.Mix(s.Seed^sim.Mix(10)) % uint64(s.Members)) }

// settings returns the gate's settings, as its members know them.
func (s *Scenario) settings() *wander.Settings {
	gate := &wander.Settings{
		Skip: s.Skip, Op: s.Op, MinInterval: s.MinInterval, RetryAfter: s.RetryAfter, MaxInterval: s.MaxInterval,
		Walk: s.Walk, Backups: s.Backups, OnLost: s.OnLost, AskBeforeRun: s.AskBeforeRun, Keep: s.Keep,
		SlotsShare: s.SlotsShare, Soak: s.Hook.Soak,
	}
	if s.MeasureOp {
		gate.Op = 0
	}
	if s.Windows != nil {
		gate.Windows = *s.Windows
	}
	return gate
}

// settingsOf returns the settings of one member.
func (s *Scenario) settingsOf(member int, all *wander.Settings) *wander.Settings {
	if s.Differ == 0 || member%3 != 2 {
		return all
	}
	own := *all
	own.MaxInterval = time.Duration(float64(s.MaxIntervalInForce()) / s.Differ)
	own.Op = time.Duration(float64(all.Op) / s.Differ)
	return &own
}

// sameTies draws numbers with the same last byte: only ties are drawn from that byte.
type sameTies struct{ policy.Entropy }

// Uint64 draws a number.
func (e sameTies) Uint64() uint64 { return e.Entropy.Uint64() &^ 0xff }

// stopTimeout bounds a graceful stop.
const stopTimeout = 30 * time.Second

// centred returns a number between -1 and 1, the same for the same seed and i.
func centred(seed uint64, i int) float64 {
	return float64(int64(sim.Mix(seed^sim.Mix(uint64(i)+1<<40)))) / (1 << 63)
}

// start starts the members.
func (s *Scenario) start(c *sim.Cluster) {
	switch {
	case s.TokenInPlace:
		c.BootWithToken(0)
		return
	case s.StartWithin <= 0:
		c.Boot()
		return
	}
	for i := range s.Members {
		at := time.Duration((centred(s.Seed, -1-i) + 1) / 2 * float64(s.StartWithin))
		c.After(at, func() {
			if !c.Up(i) {
				c.Start(i)
			}
		})
	}
}

// MaxIntervalInForce returns Δmax as a full fleet has it: MaxInterval, or the default rule if it is not set.
func (s *Scenario) MaxIntervalInForce() time.Duration {
	if s.MaxInterval > 0 {
		return s.MaxInterval
	}
	visit := s.Op
	if s.onDemand() {
		visit = max(visit, s.Skip)
	}
	return 3 * max(s.MinInterval, time.Duration(s.Members)*visit)
}

// onDemand reports whether members run only when a caller waits.
func (s *Scenario) onDemand() bool { return s.hasCallers() && !s.Demand.Beside }

// hasCallers reports whether callers wait for runs, perhaps beside the members' own operation.
func (s *Scenario) hasCallers() bool { return s.Demand.Every > 0 }

// lap returns the duration of the longest lap in which every member runs and no datagram is lost.
func (s *Scenario) lap() time.Duration {
	visit := s.Hook.Longest() + s.Skip + s.Network.RoundTrip()*3/2
	return time.Duration(s.Members) * visit
}

// Checkers returns new checkers of all rules, for one run of the scenario.
func (s *Scenario) Checkers() []sim.Watcher {
	lap := time.Duration(0)
	if s.Walk == wander.Random && s.Backups == 0 && !s.onDemand() {
		lap = -1
	}
	if s.Walk != wander.Random {
		lap = s.MaxIntervalInForce() / 3
		if s.MeasureOp {
			lap = math.MaxInt64 // Only the members know the duration.
		}
	}
	timeout := wander.Patience(s.Skip)
	each := func(one func() sim.Watcher) sim.Watcher { return sim.EachSlot(s.Tokens(), one) }
	checkers := []sim.Watcher{
		each(check.NewHandoffChecker), each(check.NewCustodyChecker), each(check.NewSeqChecker),
		each(func() sim.Watcher { return check.NewGrantChecker(timeout / 2) }),
		each(func() sim.Watcher { return NewRemovalChecker(s.MinInterval, lap, timeout) }),
		each(NewBirthChecker),
		each(func() sim.Watcher { return NewGuardianChecker(timeout) }),
		each(func() sim.Watcher { return check.NewCommitChecker(timeout) }),
		each(func() sim.Watcher { return NewChoiceChecker(s.Backups) }),
		each(func() sim.Watcher { return NewSilenceChecker(timeout) }),
		each(func() sim.Watcher { return NewHeartbeatChecker(timeout) }),
		each(NewDueChecker),
		check.NewTrafficChecker(s.datagrams(timeout), trafficTimeouts*timeout),
		check.NewIntervalChecker(s.MinInterval, s.RetryAfter, timeout/2), check.NewMessageChecker(),
		check.NewWakeChecker(), NewSlotChecker(s.SlotsShare > 0),
		each(func() sim.Watcher { return NewInquiryChecker(timeout/2, s.Backups > 0) }),
		each(func() sim.Watcher { return NewCertainChecker(s.isCut()) }),
	}
	if n := &s.Network; s.Backups > 0 && !s.MixedSlots && s.SlotsShare == 0 && s.Keep == 0 &&
		n.Loss+n.Late+n.Broken == 0 && n.Distant == 0 && 4*(n.Latency+n.Jitter) < timeout &&
		s.Faults.DeafEvery == 0 && !s.someStay() {
		checkers = append(checkers, each(func() sim.Watcher { return NewTakerChecker(takerTimeouts * timeout) }))
	}
	if s.countable() {
		checkers = append(checkers, check.NewQuantityChecker(s.Tokens(), s.Faults.CutParts))
	}
	if s.SlotsShare > 0 {
		checkers = append(checkers, check.NewShareChecker(s.SlotsShare, 0))
	}
	if s.Tokens() == 1 {
		checkers = append(checkers, NewDeafChecker(8*timeout+8*s.Network.RoundTrip()), NewVouchChecker())
	}
	// If members differ in the number of slots, any message may tell a member that tokens come to it from now on.
	if !s.mixes() {
		checkers = append(checkers, each(NewSightingChecker))
	}
	if s.Operators != (sim.Operators{}) || s.Shape.Canaries > 0 {
		checkers = append(checkers, check.NewDirectiveChecker(s.Membership.GossipAfter+s.Membership.RejoinAfter+
			2*s.Membership.Spread))
	}
	if s.Operators.StopAfter > 0 && s.Faults == (sim.Faults{}) && s.TokenInPlace && s.Tokens() == 1 && s.Keep == 0 {
		checkers = append(checkers, check.NewBrakeChecker(s.Operators.StopAfter))
	}
	if s.Ready != (sim.Ready{}) {
		checkers = append(checkers, check.NewReadyChecker(s.Ready.Again+s.Ready.Timeout))
	}
	checkers = append(checkers, check.NewConductChecker(), check.NewStatusChecker(timeout/2),
		NewTrailChecker(s.Backups))
	checkers = append(checkers, check.NewShapeCheckers(&s.Shape, s.Members, &s.Membership)...)
	if s.Hook.Soak > 0 {
		checkers = append(checkers, check.NewSoakChecker(s.Hook.Soak, guardian.SoakTold))
	}
	if s.hasCallers() {
		checkers = append(checkers, check.NewDemandChecker(s.Demand.Beside))
	}
	if s.Demand.Beside {
		exact := s.Tokens() == 1 && s.Windows == nil && s.Keep == 0
		checkers = append(checkers, check.NewTurnsChecker(), check.NewScheduleChecker(exact, guardian.NoteUnused))
	}
	if s.restarts() {
		back, within := s.restarted()
		checkers = append(checkers, NewRestartChecker(back, within))
	}
	// Hosts that were away for longer than their grants are kept may come back with a token beside that of the others.
	if s.Backups > 0 && s.Tokens() == 1 && s.Keep == 0 && s.isSound() {
		checkers = append(checkers, NewOverlapChecker(overlapTimeouts*timeout))
	}
	if s.tidy() {
		settle := s.Membership.RejoinAfter + s.Membership.GossipAfter + s.Membership.Spread + 3*timeout
		checkers = append(checkers, check.NewKeptChecker(s.Keep, timeout, settle, s.Members > guardian.MostAsked))
	}
	if s.LongLap {
		checkers = append(checkers, NewCrowdChecker())
	}
	if s.RetryAfter > 0 {
		checkers = append(checkers, NewRetryChecker(s.MinInterval, s.RetryAfter, s.Tokens() == 1 && s.Windows == nil))
	}
	if s.Windows != nil {
		checkers = append(checkers, NewWindowChecker(*s.Windows, s.Members, s.Skip, timeout/2))
	}
	// The list of missed members has the first bytes of identities, which are all alike if identities are in order.
	if s.Walk != wander.Random && s.Order != sim.InOrder {
		checkers = append(checkers, each(NewMissedChecker))
	}
	return checkers
}

// countable reports whether each token more than one has a cause that can be counted. Without guardians no member asks
// before it makes a token. Where datagrams take no time, or a skip and more, two members may do so at one moment. Where
// many join one that has all tokens, not all of those whom they ask have met each.
func (s *Scenario) countable() bool {
	n := &s.Network
	if s.TokenInPlace && s.Tokens() > 1 {
		return false
	}
	return s.Backups > 0 && 0 < n.Latency && n.Latency <= s.Skip/10 && n.Late == 0 && n.Distant == 0 && !s.MixedSlots &&
		s.SlotsShare == 0 && s.Disk == (sim.Disk{}) && s.SlowDisk == (sim.Disk{}) && s.Differ == 0 && !s.someStay()
}

// mixes reports whether members may take the gate for one whose members differ in the number of slots: they do, or a
// token that does not exist says so. That matters where several tokens share the members.
func (s *Scenario) mixes() bool {
	return s.MixedSlots || s.SlotsShare > 0 || s.Walk == wander.Sweep && s.Slots > 1 && s.Faults.ForgeEvery > 0
}

// tidy reports whether nobody runs beside a member that is away under its grant: members crash and restart, but hear
// each other, and hosts come back in time. One that comes back late may meet nobody who knows that others have gone on.
func (s *Scenario) tidy() bool {
	n, f := s.Network, s.Faults
	quick := 4*(n.Latency+n.Jitter) < wander.Patience(s.Skip)
	n.Encode, n.Latency, n.Jitter, n.Duplicate = false, 0, 0, 0
	f.CrashEvery, f.DownFor, f.MidStep, f.HostShare, f.Restart = 0, 0, 0, 0, sim.Restart{}
	return s.Keep > 0 && quick && n == (sim.Network{}) && f == (sim.Faults{}) && s.Disk == (sim.Disk{}) &&
		s.SlowDisk == (sim.Disk{}) && s.Differ == 0 && s.StartWithin == 0 && s.Hook.Reboots.Late == 0
}

// String returns one line for each parameter that is not zero.
func (s *Scenario) String() string { return trace.Parameters(*s) }

// each calls do with every parameter and its name, in order.
func (s *Scenario) each(do func(name string, value reflect.Value)) { trace.EachParameter(*s, do) }

// overlapTimeouts is for how long after it was away, in timeouts, a member may begin to run beside another one.
const overlapTimeouts = 8

// takerTimeouts is how long a member must have been there, in timeouts, before it could take any token.
const takerTimeouts = 16

// trafficTimeouts is the time in which datagrams are counted, in timeouts.
const trafficTimeouts = 8

// datagrams returns how many datagrams a member may send in that time: heartbeats to all guardians, repeated offers and
// Acks, questions, and the datagrams of one visit of a token in each skip; and a question to all members, which is
// repeated where answers take long, and which a member that hears nobody asks again whenever its view changes. Where
// members do not wait for others, each begins with a token of its own, and answers the questions about those of the
// others.
func (s *Scenario) datagrams(timeout time.Duration) int {
	visits, asked := float64(timeout)/float64(s.Skip), 2*float64(s.Members)
	if !s.WaitAlone {
		asked *= 2
	}
	if 2*(s.Network.Latency+s.Network.Jitter) > timeout || s.Faults.DeafEvery > 0 {
		asked *= 1.5
	}
	tokens := s.Tokens()
	if s.SlotsShare > 0 {
		tokens = max(tokens, 2) // Also where one is in use, members ask as in a gate with several.
	}
	return int(trafficTimeouts * float64(tokens) * (40 + 8*visits + asked))
}
