package together

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/holds"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Scenario is a fleet of hosts with several gates. Each host has a gate for an upgrade, which may need others and a
// place in its zone, and gates for callers.
type Scenario struct {
	Seed  uint64
	Hosts int
	// Slots is how many tokens the gate of the upgrade has. If Called is true, its tokens come when called; otherwise
	// they go round.
	Slots  int
	Called bool
	// With is how many gates of callers an upgrade needs, of those that there are: Plain. On the first Before hosts it
	// needs none of them, as before that was rolled out there.
	With, Plain, Before int
	// Zones is how many zones the hosts are in, zero for none; PerZone is how many hosts of each may run at once.
	Zones, PerZone int
	// WithWait is how long a run waits for the others of its gates.
	WithWait time.Duration
	// Op is how long an operation takes, up or down by the share Spread; MinInterval is the time between two upgrades
	// of a host.
	Op          time.Duration
	Spread      float64
	MinInterval time.Duration
	Skip        time.Duration
	// CallEvery is the mean time between two callers, each on one host, with one or two gates. Zero: there are none.
	CallEvery time.Duration
	// FaultEvery is the mean time between two hosts that crash or leave, for DownFor. Zero: there are none.
	FaultEvery, DownFor time.Duration
	// PauseEvery is the mean time between two pauses of an agent or, as a share of Asleep, of its host, for PauseFor.
	PauseEvery, PauseFor time.Duration
	Asleep               float64
	Network              sim.Network
	Membership           sim.Membership
	// Disk is that of each host.
	Disk sim.Disk
	// PartEvery is the mean time between two moments when the hosts' network is parted in two, for PartFor; as a share
	// of OneWay, messages of the second part still reach the first.
	PartEvery, PartFor time.Duration
	OneWay             float64
	// DeafEvery is the mean time between two hosts that hear nobody or, as a share of Mute, that nobody hears, for
	// DeafFor.
	DeafEvery, DeafFor time.Duration
	Mute               float64
	// Faults are those of each gate by itself.
	Faults sim.Faults
	// Duration is how long there are callers and faults.
	Duration time.Duration
	Strict   Strict
	// Shape is that of the upgrade, and Soak is for how long a host that has succeeded is looked after.
	Shape sim.Shape
	Soak  time.Duration
	// Once is true if one upgrade that succeeds in MinInterval is enough for all hosts.
	Once bool
	// Operators are those of each gate: they pause it, and resume it.
	Operators sim.Operators
}

// The sources of a world's random choices.
const (
	worldLabel = iota + 0x7067
	drawLabel
	faultsLabel
	pausesLabel
	strictLabel
	clocksLabel
	disksLabel
	networkLabel
	shapeLabel
	operatorsLabel
	rollOutLabel
)

// Draw draws a scenario.
func Draw(seed uint64) Scenario {
	d := sim.NewDice(seed, drawLabel)
	s := Scenario{
		Seed: seed, Hosts: 2 + d.IntN(7), Called: d.Sometimes(0.5), Plain: 1 + d.IntN(3),
		Op: d.Time(time.Second, time.Minute), Spread: d.Maybe(0.7, 0.05, 0.9),
		Skip:    d.Time(200*time.Millisecond, 2*time.Second),
		Network: sim.Network{Latency: d.Time(100*time.Microsecond, 30*time.Millisecond)},
		Membership: sim.Membership{
			GossipAfter: d.Time(10*time.Millisecond, time.Second), DetectAfter: d.Time(time.Second, 10*time.Second),
			RejoinAfter: d.Time(time.Second, 30*time.Second), Spread: d.Time(time.Millisecond, 300*time.Millisecond),
		},
	}
	s.With = d.IntN(s.Plain + 1)
	if s.With == 0 || d.Sometimes(0.6) {
		s.Zones, s.PerZone = 1+d.IntN(3), 1+d.IntN(2)
	}
	s.Slots = 1 + d.IntN(4)
	if d.Sometimes(0.7) {
		s.CallEvery = time.Duration(d.Share(1, 20) * float64(s.Op))
	}
	if d := sim.NewDice(seed, strictLabel); d.Sometimes(0.5) {
		s.drawStrict(d)
	}
	s.MinInterval = time.Duration(s.Hosts) * d.Time(s.Op, 4*s.Op)
	s.Duration = 3*s.MinInterval + d.Time(time.Minute, 10*time.Minute)
	if d := sim.NewDice(seed, shapeLabel); d.Sometimes(0.5) {
		s.drawShape(d)
	}
	s.WithWait = s.grants() + time.Duration(d.Share(0.2, 4)*float64(s.Op))
	if d.Sometimes(0.5) {
		s.WithWait = patient
	}
	if d.Sometimes(0.5) {
		s.FaultEvery, s.DownFor = s.Duration/time.Duration(1+d.IntN(12)), d.Time(time.Second, time.Minute)
	}
	if d.Sometimes(0.3) {
		s.Network.Loss, s.Network.Jitter = d.Maybe(0.7, 0.001, 0.2), s.Network.Latency
		s.Faults = sim.Faults{LoseTokenEvery: d.Time(20*time.Second, 5*time.Minute)}
	}
	if d = sim.NewDice(seed, networkLabel); d.Sometimes(0.3) {
		s.PartEvery, s.PartFor, s.OneWay = d.Time(30*time.Second, 5*time.Minute), d.Time(time.Second, time.Minute), 0.3
	}
	if d.Sometimes(0.2) {
		s.DeafEvery, s.DeafFor, s.Mute = d.Time(30*time.Second, 5*time.Minute), d.Time(time.Second, time.Minute), 0.5
	}
	if d = sim.NewDice(seed, pausesLabel); d.Sometimes(0.3) {
		s.PauseEvery, s.Asleep = s.Duration/time.Duration(1+d.IntN(12)), d.Maybe(0.5, 0.1, 1)
		s.PauseFor = d.Time(time.Second, time.Minute)
	}
	if d = sim.NewDice(seed, disksLabel); !s.calm() && d.Sometimes(0.3) {
		s.Disk = sim.Disk{Takes: d.Time(time.Millisecond, 100*time.Millisecond), Slow: d.Maybe(0.5, 0.001, 0.1)}
		s.Disk.SlowFor = d.Time(time.Second, 10*time.Second)
	}
	if d = sim.NewDice(seed, operatorsLabel); !s.Once && d.Sometimes(0.25) {
		s.Operators = sim.Operators{
			Every: s.Duration / time.Duration(1+d.IntN(12)), For: d.Time(time.Second, time.Minute), HereShare: 0.3,
		}
	}
	if d = sim.NewDice(seed, rollOutLabel); s.With > 0 && d.Sometimes(0.3) {
		s.Before = 1 + d.IntN(s.Hosts)
	}
	return s
}

// calm reports whether nothing goes wrong.
func (s *Scenario) calm() bool {
	return s.FaultEvery+s.PauseEvery+s.PartEvery+s.DeafEvery+s.Operators.Every == 0 && s.Faults == sim.Faults{} &&
		s.Network.Loss == 0
}

// grants is how long the grants of all gates of an upgrade take, one after the other, if nobody else has them: each is
// a call, an offer and its two answers, and the holder may ask a home.
func (s *Scenario) grants() time.Duration {
	_, each := s.Strict.settles()
	return time.Duration(s.With+1) * (15*s.Network.Latency + each)
}

// longest is how long an operation takes at most, with the time until its gates know that it is over.
func (s *Scenario) longest() time.Duration {
	return time.Duration(float64(s.Op)*(1+s.Spread)) + s.Soak + 4*call.Patience(s.Skip)
}

// patient is how long a run waits for its gates where it is to get them, however many runs wait for each other.
const patient = 24 * time.Hour

// bound is how long a fleet that was healed needs until each host has run its upgrade, and each caller its command.
func (s *Scenario) bound() time.Duration {
	m := &s.Membership
	settle := m.RejoinAfter + m.DetectAfter + 10*m.DetectMore + m.Spread + 2*stopTimeout
	late, strict := s.Strict.settles()
	each := s.longest() + min(s.WithWait, 2*s.longest()) + strict
	all := late + 2*s.MinInterval + 240*call.Patience(s.Skip) + time.Duration(8*s.Hosts)*each
	return settle + time.Duration(s.stages())*all
}

const stopTimeout = 20 * time.Second

const upgrade = "upgrade"

func plain(i int) string  { return fmt.Sprint("plain", i) }
func zoneOf(h int) string { return fmt.Sprint(upgrade, "@", h) }

// zone is the gate of a host's zone; empty if zones do not matter.
func (s *Scenario) zone(h int) string {
	if s.Zones == 0 {
		return ""
	}
	return zoneOf(h % s.Zones)
}

// with is how many gates of callers the upgrade of a host needs.
func (s *Scenario) with(h int) int {
	if h < s.Before {
		return 0
	}
	return s.With
}

// needs is what a gate of a host needs, as the configuration of that host says.
func (s *Scenario) needs(h int, name string) (holds.Gate, bool) {
	g := holds.Gate{Name: name}
	if name == upgrade {
		for i := range s.with(h) {
			g.With = append(g.With, plain(i))
		}
		g.Zone = s.zone(h)
	}
	return g, true
}

// needed are the gates that a job must hold.
func (s *Scenario) needed(j *job) []string {
	names := slices.Clone(j.named)
	if j.own() {
		for i := range s.with(j.host) {
			names = append(names, plain(i))
		}
		if zone := s.zone(j.host); zone != "" {
			names = append(names, zone)
		}
	}
	return names
}

// gateOf is a gate of a scenario.
type gateOf struct {
	name     string
	hosts    []int
	onDemand bool
	slots    int
	// strict is true if at most one may run at once whatever happens.
	strict bool
}

// gates are the gates of the fleet: the one with an operation of its own comes first.
func (s *Scenario) gates() (all []gateOf) {
	var hosts []int
	for h := range s.Hosts {
		hosts = append(hosts, h)
	}
	all = append(all, gateOf{name: upgrade, hosts: hosts, slots: s.Slots, strict: s.Strict.Upgrade})
	for i := range s.Plain {
		all = append(all, gateOf{
			name: plain(i), hosts: hosts, onDemand: true, slots: 1, strict: i < s.Strict.Plain,
		})
	}
	for z := range min(s.Zones, s.Hosts) {
		in := slices.DeleteFunc(slices.Clone(hosts), func(h int) bool { return h%s.Zones != z })
		all = append(all, gateOf{name: zoneOf(z), hosts: in, onDemand: true, slots: s.PerZone})
	}
	return all
}

// protocol is that of a gate, whose cluster has a seed.
func (s *Scenario) protocol(g *gateOf, seed uint64) policy.Protocol {
	var interval time.Duration
	if !g.onDemand {
		interval = s.MinInterval
	}
	switch {
	case g.strict:
		return s.strict(seed, interval)
	case g.onDemand || s.Called:
		return call.Settings{Skip: s.Skip, Backups: 2, Slots: g.slots, MinInterval: interval}
	default:
		return wander.Settings{
			Skip: s.Skip, Op: s.Op, MinInterval: interval, MaxInterval: 3 * interval, Backups: 2, Slots: g.slots,
			Walk: wander.Shuffle,
		}
	}
}

// cluster makes the cluster of a gate.
func (s *Scenario) cluster(i int, g *gateOf, watchers ...sim.Watcher) *sim.Cluster {
	seed := sim.Mix(s.Seed + uint64(i)<<32)
	p, shape, soak, operators := s.protocol(g, seed), sim.Shape{}, time.Duration(0), s.Operators
	if g.name == upgrade {
		shape, soak = s.Shape, s.Soak
		if s.Once {
			operators.Once = s.MinInterval
		}
		watchers = append(watchers, check.NewShapeCheckers(&shape, s.Hosts, &s.Membership)...)
	}
	return sim.New(sim.Config{
		Seed: seed, Members: len(g.hosts), Descriptor: p.Descriptor(), Network: s.Network, Clocks: s.clocks(g),
		Membership: s.Membership, Hook: sim.Hook{Takes: s.Op, Soak: soak}, Shape: shape, AskFirst: true,
		Outsiders:   true, // Hosts of other zones, or without the gate.
		StopTimeout: stopTimeout, Operators: operators, Disk: s.Disk, OrphanGrace: p.OrphanGrace(), Watchers: watchers,
		Machine: func(env sim.Env) policy.Machine {
			env.OnDemand, env.WaitsAlone = g.onDemand, true
			return p.Machine(env.Env)
		},
	})
}

// callers is how many callers of a host wait, or have their commands run.
func (w *world) callers(h int) (n int) {
	seen := map[*job]bool{}
	count := func(j *job) {
		if j != nil && !j.own() && j.state != over && !seen[j] {
			seen[j] = true
			n++
		}
	}
	for _, g := range w.gates {
		count(g.held[h])
		for _, j := range g.waiting[h] {
			count(j)
		}
	}
	return n
}
