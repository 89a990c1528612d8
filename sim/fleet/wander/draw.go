package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
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
