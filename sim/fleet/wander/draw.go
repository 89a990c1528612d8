package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/reduce"
	"github.com/wanderd/wanderd/wire"
)

// Draw returns the scenario of a seed: the seed draws every parameter, and the kinds of faults. Many runs with a few
// kinds of faults each find more than runs with all kinds (swarm testing).
func Draw(seed uint64) Scenario {
	s, _ := draw(seed)
	return s
}

// DrawCore is Draw for a fleet in which the faults end for a part of the members first: for two at least. A grant that
// outlives its host is left out, because it waits for guardians, which may all be outside. Large fleets would take too
// long to explore.
func DrawCore(seed uint64) Scenario {
	s, d := Draw(seed), drawing{sim.NewDice(seed, 6026)}
	if s.Members > 40 {
		return s
	}
	if s.Members < 3 {
		s.grow(3 + d.IntN(6))
	}
	s.Standing, s.Keep, s.Hook.Reboots, s.Shape = NothingStands, 0, sim.Reboots{}, sim.Shape{}
	s.Core = sim.Core{Of: 2 + d.IntN(s.Members-2), Stays: d.DrawStays()}
	return s
}

// draw also returns the names of the scenario's pieces.
func draw(seed uint64) (s Scenario, pieces []string) {
	d := drawing{sim.NewDice(seed, 6)}
	s = Scenario{Seed: seed, Members: d.members(), Skip: d.Time(20*time.Millisecond, 2*time.Second)}
	s.Op = d.Time(s.Skip, 5*time.Second)
	// From an idle fleet to one with twice the load it can carry.
	s.MinInterval = max(s.Op, time.Duration(float64(s.Members)*float64(s.Op)/d.Share(0.5, 10)))
	if d.Sometimes(0.25) {
		s.MaxInterval = time.Duration(d.Share(1.5, 4) * float64(s.MaxIntervalInForce()) / 3)
	}
	s.WaitAlone = s.Members > 1 && d.Sometimes(0.75)
	if d.Sometimes(0.75) {
		s.StartWithin = d.Time(time.Millisecond, s.MinInterval+10*time.Second)
	}
	if d.Sometimes(0.5) {
		s.ClockSkew = d.Time(time.Millisecond, time.Hour)
		s.ClockDrift = d.Share(1e-6, 1e-3)
	}
	s.AskFirst = d.Sometimes(0.5)
	s.EarlyWakes = d.Maybe(0.3, 0.05, 0.5)
	s.Duration = time.Duration(d.Share(2, 8) * float64(s.MaxIntervalInForce()))
	s.Network = d.network(&s)
	s.Membership = d.membership(&s)
	s.Hook = d.hook(&s)
	s.Faults = d.faults(&s)
	s.TokenInPlace = !s.WaitAlone && s.StartWithin == 0 && d.Sometimes(0.5)
	if d.Sometimes(0.05) {
		s.Order = sim.InOrder
	}
	walks := wander.Walks()
	s.Walk = walks[d.IntN(len(walks))]
	if d.Sometimes(0.7) {
		s.Backups = 1 + d.IntN(guardian.MaxBackups)
	}
	if d.Sometimes(0.5) {
		s.OnLost = soft.Stop
	}
	s.MeasureOp = d.Sometimes(0.3)
	if d.Sometimes(0.1) {
		// With more slots than members, a token might fall to no member.
		s.Slots = min(2+d.IntN(2), s.Members)
		s.MixedSlots = d.Sometimes(0.2)
	}
	// Later additions are drawn from here on, so that older draws stay as they were; see also pieces.go.
	if d.Sometimes(0.1) {
		s.Faults.ForgeEvery = d.Time(s.Duration/20, s.Duration)
	}
	s.SameTies = d.Sometimes(0.2)
	if s.Faults.CrashEvery > 0 && d.Sometimes(0.5) {
		s.Faults.HostShare = d.Share(0.1, 1)
	}
	s.Disk = d.disk(&s)
	s.Hook.Late = d.Maybe(0.1, 0.01, 0.5)
	pieces = s.drawPieces()
	if d.Sometimes(0.1) {
		// Like real memberships: see sim.MeasuredMembership.
		m := &s.Membership
		m.DetectMore, m.CutAfter = d.Time(time.Millisecond, m.DetectAfter/8), d.Time(m.DetectAfter, 2*m.DetectAfter)
	}
	return s, pieces
}

// drawing draws parameters.
type drawing struct{ sim.Dice }

func (d drawing) members() int {
	if d.Sometimes(0.05) {
		return 1
	}
	return 2 + int(d.Share(1, 9)) - 1
}

func (d drawing) network(s *Scenario) sim.Network {
	n := sim.Network{Latency: d.Time(100*time.Microsecond, s.Skip/10), Encode: true}
	if d.Sometimes(0.7) {
		n.Jitter = d.Time(n.Latency/10, 4*n.Latency)
	}
	n.Loss, n.Duplicate = d.Maybe(0.5, 0.001, 0.4), d.Maybe(0.5, 0.001, 0.3)
	if d.Sometimes(0.3) {
		n.Late, n.LateBy = d.Share(0.01, 0.3), d.Time(s.Skip, 20*s.Skip)
	}
	n.Broken = d.Maybe(0.15, 0.05, 0.4)
	if d.Sometimes(0.4) {
		n.Replay, n.ReplayWithin = d.Share(0.1, 3), d.Time(s.Skip, s.Duration)
	}
	return n
}

func (d drawing) membership(s *Scenario) sim.Membership {
	m := sim.Membership{GossipAfter: d.Time(time.Millisecond, 3*time.Second)}
	m.DetectAfter = d.Time(m.GossipAfter, 15*time.Second)
	m.RejoinAfter = d.Time(m.DetectAfter, 30*time.Second)
	if d.Sometimes(0.7) {
		m.Spread = d.Time(time.Millisecond, s.MinInterval)
	}
	return m
}

func (d drawing) disk(s *Scenario) sim.Disk {
	if !d.Sometimes(0.4) {
		return sim.Disk{}
	}
	k := sim.Disk{Slow: d.Share(0.05, 1), SlowFor: d.Time(s.Skip/10, 20*s.Skip)}
	if d.Sometimes(0.5) {
		k.Takes = d.Time(time.Millisecond, s.Skip)
	}
	k.Fails, k.Hangs = d.Maybe(0.5, 0.01, 0.5), d.Maybe(0.3, 0.01, 0.1)
	return k
}

func (d drawing) hook(s *Scenario) sim.Hook {
	h := sim.Hook{Takes: s.Op, Spread: d.Share(0.02, 1)}
	if h.Spread < 0.03 {
		h.Spread = 0 // All runs take exactly equally long.
	}
	if d.Sometimes(0.5) {
		h.Timeout, h.KillAfter = d.Time(s.Op, 5*s.Op), d.Time(10*time.Millisecond, 5*time.Second)
		h.Deaf = d.Share(0.01, 1)
		h.Fails, h.Hangs = d.Share(0.01, 0.5), d.Share(0.01, 0.3)
	}
	return h
}

func (d drawing) faults(s *Scenario) sim.Faults {
	var f sim.Faults
	often := func() time.Duration { return d.Time(s.Duration/20, s.Duration) }
	brief := func() time.Duration { return d.Time(s.Skip/10, s.Duration/10) }
	if d.Sometimes(0.4) {
		f.CrashEvery, f.DownFor, f.MidStep = often(), brief(), d.Share(0.1, 1)
	}
	if d.Sometimes(0.3) {
		f.PauseEvery, f.PauseFor, f.SleepShare = often(), brief(), d.Share(0.2, 1)
	}
	if d.Sometimes(0.3) {
		f.LeaveEvery, f.AwayFor = often(), brief()
	}
	if d.Sometimes(0.3) {
		f.CutEvery, f.CutFor, f.OneWayShare = often(), 3*brief(), d.Share(0.1, 1)
	}
	if d.Sometimes(0.3) {
		f.LoseTokenEvery = often()
	}
	if s.Members > 1 && d.Sometimes(0.1) {
		f.Partition = sim.Partition{At: d.Time(s.Skip, s.Duration), For: 3 * brief(), Share: d.Share(0.1, 0.9)}
	}
	return f
}

// Kind and ByzantineKind name the scenarios of this package in files.
const Kind = "wander"

// ByzantineKind names those in which one member lies.
const ByzantineKind = "wander with a Byzantine member"

// Smaller makes a scenario that breaks a rule smaller, and writes it.
func (s *Scenario) Smaller() string {
	r := reduce.Smaller(*s, func(s *Scenario, w ...sim.Watcher) error { return s.Explore(w...).Err })
	return r.Text(Kind)
}

// Smaller is that of [Scenario].
func (s *ByzantineScenario) Smaller() string {
	r := reduce.Smaller(*s, func(s *ByzantineScenario, w ...sim.Watcher) error { return s.Explore(w...).Err })
	return r.Text(ByzantineKind)
}

// Check returns what is wrong with a scenario that no seed has drawn. The rules of this package hold in fleets as seeds
// draw them: a fleet without guardians needs the right constants, and guardians only keep what is kept for long.
func (s *Scenario) Check() error {
	h, n, p := &s.Hook, &s.Network, wander.Patience(s.Skip)
	world := reduce.World{
		Members: s.Members, Skip: s.Skip, Duration: s.Duration, Network: n, Membership: &s.Membership,
		Hook: h, Disk: &s.Disk, Slow: &s.SlowDisk,
		Demand: &s.Demand, Operators: &s.Operators, Ready: &s.Ready, Faults: &s.Faults,
	}
	if s.Members < 1 || s.Skip <= 0 {
		return reduce.Check(reduce.Limits{"there are members, and skip is more than 0": false})
	}
	far := n.Latency > s.Skip/10
	slow := far || n.Distant > 0 || s.onDemand() || s.Demand.Beside || h.Unequal > 0
	return reduce.Check(world.Limits(), reduce.Limits{
		"skip is from 10ms to 1h":                    10*time.Millisecond <= s.Skip && s.Skip <= time.Hour,
		"the duration is from one skip to 1,000,000": s.Skip <= s.Duration && s.Duration <= 1_000_000*s.Skip,
		"an operation takes at most 3000 skips, and as long as op says where no guardian asks": s.Op > 0 &&
			h.Takes <= 3000*max(s.Skip, 250*time.Millisecond) &&
			(s.Backups > 0 || s.Op*9/10 <= h.Takes && h.Takes <= s.Op*11/10),
		"min_interval is not shorter than op, or zero on demand": s.MinInterval >= s.Op*9/10 ||
			s.onDemand() && s.MinInterval == 0,
		"max_interval is not shorter than min_interval, and right where no guardian asks": s.MaxInterval == 0 &&
			(s.Backups > 0 || !slow || s.MaxIntervalInForce() >= 27*s.lap()/10) ||
			s.MaxInterval >= s.MinInterval && (s.Backups > 0 ||
				s.MaxInterval >= s.leastMaxInterval() && (!slow || s.MaxInterval >= 27*s.lap()/10)),
		"backups is from 0 to 4": 0 <= s.Backups && s.Backups <= guardian.MaxBackups,
		"no gate has more slots than members": 0 <= s.Slots && s.Slots <= wire.MaxSlots && s.Slots <= s.Members &&
			(!s.MixedSlots || s.Slots > 0),
		"slots are a number, or a share of up to 100 %": 0 <= s.SlotsShare && s.SlotsShare <= 100 &&
			(s.SlotsShare == 0 || s.Slots == 0 && !s.LongLap && !s.restarts() && s.Standing == NothingStands),
		"constants differ by a factor from 1 to 10, where guardians ask": s.Differ == 0 ||
			1 <= s.Differ && s.Differ <= 10 && s.Backups > 0 && s.Operators.StopAfter == 0 && !s.restarts(),
		"a token is in place where all start at once": !s.TokenInPlace || s.StartWithin == 0 && !s.WaitAlone,
		"one member alone does not wait":              s.Members > 1 || !s.WaitAlone,
		"clocks differ by an hour, and a thousandth":  s.ClockSkew <= time.Hour && s.ClockDrift <= 1e-3,
		"at most 0.6 of the wakes are early":          s.EarlyWakes <= 0.6,
		"a datagram takes at most 2 skips, or 20 if it is late": n.Latency <= 2*s.Skip && n.LateBy <= 20*s.Skip &&
			(n.Jitter <= n.Latency || !far && n.Jitter <= 5*n.Latency),
		"no member is more than 8 patiences away, or in order then": n.Distant == 0 ||
			n.RoundTrip() <= farthest*p && s.Order != sim.InOrder,
		"a fault that stays needs from 2 to 9 members, and no windows": s.Standing == NothingStands ||
			2 <= s.Members && s.Members < 10 && s.Windows == nil && s.Keep == 0,
		"a core is a part of the members, and not one alone, and no other fault stays": s.Core.Of == 0 ||
			2 <= s.Core.Of && s.Core.Of < s.Members && s.Standing == NothingStands && s.Keep == 0 && !s.LongLap,
		"an operation's timeout is not shorter than op":           h.Timeout == 0 || h.Timeout >= s.Op*9/10,
		"operations of some members take at most 5 times as long": h.Unequal <= 4,
		"callers ask for at most ten times what a member can do":  s.Demand.Every == 0 || s.Demand.Every >= s.Op/11,
		"retry_after and ready are of a member's own operations": !s.onDemand() ||
			s.RetryAfter == 0 && s.Ready == sim.Ready{},
		"retry_after is at least half a skip": s.RetryAfter == 0 || s.RetryAfter >= s.Skip/2,
		"a long lap is in a large fleet with guardians": !s.LongLap ||
			s.Members > 30 && s.Backups > 1 && s.MaxInterval >= 7*p,
		"demand without a time between callers is no demand":        s.Demand.Every > 0 || s.Demand == sim.Demand{},
		"an operation takes no time to be stopped, or its own time": h.Deaf == 0 || h.KillAfter > 0,
		"grants are kept for 18 patiences, for hosts that reboot within that, by guardians of one token": s.Keep == 0 &&
			h.Reboots == sim.Reboots{} ||
			s.Keep >= 18*p && s.Tokens() == 1 && s.SlotsShare == 0 && s.Backups > 0 && !s.LongLap && !s.restarts() &&
				h.Reboots.Away <= s.Keep && h.Reboots.LateBy <= 3*s.Keep,
		"a limit leaves room for all tokens, and there is time for all stages, and nothing stays wrong": s.fitsShape(),
		"a host soaks for at most 5 times op": h.Soak <= 5*s.Op && h.Unhealthy <= 1 &&
			(h.Soak == 0 || !s.LongLap && !s.restarts() && s.Standing == NothingStands),
	})
}

// leastMaxInterval is the shortest max_interval in a fleet without guardians: half of what members set themselves.
func (s *Scenario) leastMaxInterval() time.Duration {
	byRule := *s
	byRule.MaxInterval = 0
	return byRule.MaxIntervalInForce() * 9 / 20
}

// Check is that of [Scenario].
func (s *ByzantineScenario) Check() error {
	return reduce.Check(reduce.Limits{
		"a member that lies does so at most 100,000 times": s.Byzantine.Every > s.Scenario.Duration/100_000,
		"a member that lies has others":                    s.Scenario.Members > 1 && s.Scenario.TokenInPlace,
		"members have guardians":                           s.Scenario.Backups > 0,
	}, reduce.Limits{"the scenario without lies is fit for a run": s.Scenario.Check() == nil})
}
