package wander

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// Draw returns the scenario of a seed: the seed draws every parameter, and the kinds of faults. Many runs with a few
// kinds of faults each find more than runs with all kinds (swarm testing).
func Draw(seed uint64) Scenario {
	s, _ := draw(seed)
	return s
}

// draw also returns the names of the scenario's pieces.
func draw(seed uint64) (s Scenario, pieces []string) {
	d := drawing{rand.New(rand.NewPCG(seed, sim.Mix(6)))}
	s = Scenario{Seed: seed, Members: d.members(), Skip: d.time(20*time.Millisecond, 2*time.Second)}
	s.Op = d.time(s.Skip, 5*time.Second)
	// From an idle fleet to one with twice the load it can carry.
	s.MinInterval = max(s.Op, time.Duration(float64(s.Members)*float64(s.Op)/d.share(0.5, 10)))
	if d.sometimes(0.25) {
		s.MaxInterval = time.Duration(d.share(1.5, 4) * float64(s.MaxIntervalInForce()) / 3)
	}
	s.WaitAlone = s.Members > 1 && d.sometimes(0.75)
	if d.sometimes(0.75) {
		s.StartWithin = d.time(time.Millisecond, s.MinInterval+10*time.Second)
	}
	if d.sometimes(0.5) {
		s.ClockSkew = d.time(time.Millisecond, time.Hour)
		s.ClockDrift = d.share(1e-6, 1e-3)
	}
	s.AskFirst = d.sometimes(0.5)
	s.EarlyWakes = d.maybe(0.3, 0.05, 0.5)
	s.Duration = time.Duration(d.share(2, 8) * float64(s.MaxIntervalInForce()))
	s.Network = d.network(&s)
	s.Membership = d.membership(&s)
	s.Hook = d.hook(&s)
	s.Faults = d.faults(&s)
	s.TokenInPlace = !s.WaitAlone && s.StartWithin == 0 && d.sometimes(0.5)
	if d.sometimes(0.05) {
		s.Order = sim.InOrder
	}
	walks := wander.Walks()
	s.Walk = walks[d.IntN(len(walks))]
	if d.sometimes(0.7) {
		s.Backups = 1 + d.IntN(guardian.MaxBackups)
	}
	if d.sometimes(0.5) {
		s.OnLost = wander.Stop
	}
	s.MeasureOp = d.sometimes(0.3)
	if d.sometimes(0.1) {
		// With more slots than members, a token might fall to no member.
		s.Slots = min(2+d.IntN(2), s.Members)
		s.MixedSlots = d.sometimes(0.2)
	}
	// Later additions are drawn from here on, so that older draws stay as they were; see also pieces.go.
	if d.sometimes(0.1) {
		s.Faults.ForgeEvery = d.time(s.Duration/20, s.Duration)
	}
	s.SameTies = d.sometimes(0.2)
	if s.Faults.CrashEvery > 0 && d.sometimes(0.5) {
		s.Faults.HostShare = d.share(0.1, 1)
	}
	s.Disk = d.disk(&s)
	s.Hook.Late = d.maybe(0.1, 0.01, 0.5)
	pieces = s.drawPieces()
	if d.sometimes(0.1) {
		// Like real memberships: see sim.MeasuredMembership.
		m := &s.Membership
		m.DetectMore, m.CutAfter = d.time(time.Millisecond, m.DetectAfter/8), d.time(m.DetectAfter, 2*m.DetectAfter)
	}
	return s, pieces
}

// drawing draws parameters.
type drawing struct{ *rand.Rand }

func (d drawing) sometimes(p float64) bool { return d.Float64() < p }

// share draws a number from a range. Each doubling is equally likely: between 1 and 2 is as likely as between 2 and 4.
func (d drawing) share(from, to float64) float64 {
	return from * math.Pow(to/from, d.Float64())
}

// maybe draws such a number with probability p; otherwise it returns zero.
func (d drawing) maybe(p, from, to float64) float64 {
	if !d.sometimes(p) {
		return 0
	}
	return d.share(from, to)
}

// time draws a time from a range in the same way.
func (d drawing) time(from, to time.Duration) time.Duration {
	return time.Duration(d.share(float64(from), float64(max(from, to))))
}

func (d drawing) members() int {
	if d.sometimes(0.05) {
		return 1
	}
	return 2 + int(d.share(1, 9)) - 1
}

func (d drawing) network(s *Scenario) sim.Network {
	n := sim.Network{Latency: d.time(100*time.Microsecond, s.Skip/10), Encode: true}
	if d.sometimes(0.7) {
		n.Jitter = d.time(n.Latency/10, 4*n.Latency)
	}
	n.Loss, n.Duplicate = d.maybe(0.5, 0.001, 0.4), d.maybe(0.5, 0.001, 0.3)
	if d.sometimes(0.3) {
		n.Late, n.LateBy = d.share(0.01, 0.3), d.time(s.Skip, 20*s.Skip)
	}
	n.Broken = d.maybe(0.15, 0.05, 0.4)
	if d.sometimes(0.4) {
		n.Replay, n.ReplayWithin = d.share(0.1, 3), d.time(s.Skip, s.Duration)
	}
	return n
}

func (d drawing) membership(s *Scenario) sim.Membership {
	m := sim.Membership{GossipAfter: d.time(time.Millisecond, 3*time.Second)}
	m.DetectAfter = d.time(m.GossipAfter, 15*time.Second)
	m.RejoinAfter = d.time(m.DetectAfter, 30*time.Second)
	if d.sometimes(0.7) {
		m.Spread = d.time(time.Millisecond, s.MinInterval)
	}
	return m
}

func (d drawing) disk(s *Scenario) sim.Disk {
	if !d.sometimes(0.4) {
		return sim.Disk{}
	}
	k := sim.Disk{Slow: d.share(0.05, 1), SlowFor: d.time(s.Skip/10, 20*s.Skip)}
	if d.sometimes(0.5) {
		k.Takes = d.time(time.Millisecond, s.Skip)
	}
	k.Fails, k.Hangs = d.maybe(0.5, 0.01, 0.5), d.maybe(0.3, 0.01, 0.1)
	return k
}

func (d drawing) hook(s *Scenario) sim.Hook {
	h := sim.Hook{Takes: s.Op, Spread: d.share(0.02, 1)}
	if h.Spread < 0.03 {
		h.Spread = 0 // All runs take exactly equally long.
	}
	if d.sometimes(0.5) {
		h.Timeout, h.KillAfter = d.time(s.Op, 5*s.Op), d.time(10*time.Millisecond, 5*time.Second)
		h.Deaf = d.share(0.01, 1)
		h.Fails, h.Hangs = d.share(0.01, 0.5), d.share(0.01, 0.3)
	}
	return h
}

func (d drawing) faults(s *Scenario) sim.Faults {
	var f sim.Faults
	often := func() time.Duration { return d.time(s.Duration/20, s.Duration) }
	brief := func() time.Duration { return d.time(s.Skip/10, s.Duration/10) }
	if d.sometimes(0.4) {
		f.CrashEvery, f.DownFor, f.MidStep = often(), brief(), d.share(0.1, 1)
	}
	if d.sometimes(0.3) {
		f.PauseEvery, f.PauseFor, f.SleepShare = often(), brief(), d.share(0.2, 1)
	}
	if d.sometimes(0.3) {
		f.LeaveEvery, f.AwayFor = often(), brief()
	}
	if d.sometimes(0.3) {
		f.CutEvery, f.CutFor, f.OneWayShare = often(), 3*brief(), d.share(0.1, 1)
	}
	if d.sometimes(0.3) {
		f.LoseTokenEvery = often()
	}
	if s.Members > 1 && d.sometimes(0.1) {
		f.Partition = sim.Partition{At: d.time(s.Skip, s.Duration), For: 3 * brief(), Share: d.share(0.1, 0.9)}
	}
	return f
}
