package call

import (
	"time"

	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
)

// Draw returns the scenario of a seed: the seed draws every parameter, and the kinds of faults. Every fourth scenario
// is one in which nothing goes wrong.
func Draw(seed uint64) Scenario { return draw(seed, asDrawn, shapes()) }

// DrawCalled and DrawDue are Draw for a gate on demand, and for one whose members have an operation of their own.
func DrawCalled(seed uint64) Scenario {
	return draw(seed, func(bool) bool { return true }, shapes())
}

// DrawDue is described at DrawCalled.
func DrawDue(seed uint64) Scenario {
	return draw(seed, func(bool) bool { return false }, shapes())
}

func asDrawn(drawn bool) bool { return drawn }

// DrawCore is Draw for a fleet in which the faults end for a part of the members first: for two at least. A grant that
// outlives its host is left out, because it waits for guardians, which may all be outside.
func DrawCore(seed uint64) Scenario {
	s, d := draw(seed, asDrawn, nil), drawing{sim.NewDice(seed, 26)}
	if s.Keep, s.Hook.Reboots = 0, (sim.Reboots{}); s.Members < 3 {
		return s
	}
	s.Core = sim.Core{Of: 2 + d.IntN(s.Members-2), Stays: d.DrawStays()}
	return s
}

func draw(seed uint64, onDemand func(drawn bool) bool, shapes []piece) Scenario {
	d := drawing{sim.NewDice(seed, 23)}
	s := Scenario{Seed: seed, Members: d.members(seed), Backups: 1 + d.IntN(3)}
	s.Skip = d.Time(100*time.Millisecond, 2*time.Second)
	s.Op = d.Time(s.Skip/4, 4*time.Second)
	s.OnDemand = onDemand(d.Sometimes(0.7))
	// From an idle fleet to one with twice the load that it can carry.
	every := time.Duration(float64(s.Members) * float64(s.Op) / d.Share(0.02, 2))
	s.Demand = sim.Demand{Every: every, Beside: !s.OnDemand}
	if !s.OnDemand {
		s.MinInterval = max(every, s.Op)
	}
	if d.Sometimes(0.3) {
		s.Demand.Queued, s.Demand.Withdrawn = d.Share(0.05, 0.5), d.Share(0.01, 0.5)
	}
	s.Duration = time.Duration(d.Share(20, 200)) * max(s.Op, s.Skip)
	s.Network = sim.Network{Latency: d.Time(100*time.Microsecond, s.Skip/16), Encode: true}
	if d.Sometimes(0.7) {
		s.Network.Jitter = d.Time(s.Network.Latency/10, 3*s.Network.Latency)
	}
	s.Membership = sim.Membership{GossipAfter: d.Time(time.Millisecond, time.Second)}
	s.Membership.DetectAfter = d.Time(s.Membership.GossipAfter, 10*time.Second)
	s.Membership.RejoinAfter = d.Time(s.Membership.DetectAfter, 20*time.Second)
	s.Hook = sim.Hook{Takes: s.Op, Spread: d.Share(0.02, 1)}
	s.AskFirst = d.Sometimes(0.5)
	s.EarlyWakes = d.Maybe(0.3, 0.05, 0.5)
	d.choices(&s)
	if seed%4 == 0 {
		return s
	}
	s.WaitAlone = d.Sometimes(0.5)
	if d.Sometimes(0.4) {
		s.StartWithin = d.Time(time.Millisecond, 20*time.Second)
	}
	if d.Sometimes(0.3) {
		s.ClockSkew = d.Time(time.Millisecond, time.Hour)
	}
	s.Network.Loss, s.Network.Duplicate = d.Maybe(0.5, 0.001, 0.3), d.Maybe(0.4, 0.001, 0.3)
	if d.Sometimes(0.3) {
		s.Network.Late, s.Network.LateBy = d.Share(0.01, 0.2), d.Time(s.Skip, 10*s.Skip)
	}
	if d.Sometimes(0.2) {
		s.Disk = sim.Disk{Slow: d.Share(0.05, 1), SlowFor: d.Time(s.Skip/10, 5*s.Skip), Fails: d.Maybe(0.5, 0.01, 0.3)}
	}
	if d.Sometimes(0.4) {
		s.Membership.Spread = d.Time(time.Millisecond, 2*time.Second)
	}
	s.Faults = d.faults(&s)
	d.others(&s)
	s.drawPieces(pieces())
	if s.drawPieces(shapes); shapes != nil {
		s.drawPieces(alone())
	}
	return s
}

// others draws what only few scenarios have, from a source of its own.
func (d drawing) others(s *Scenario) {
	d = drawing{sim.NewDice(s.Seed, 24)}
	if d.Sometimes(0.1) {
		s.Operators = sim.Operators{
			Every: d.Time(s.Duration/20, s.Duration), For: d.Time(s.Skip, s.Duration/5), HereShare: d.Share(0.1, 1),
		}
	}
	if d.Sometimes(0.1) {
		s.Faults.RenewEvery = d.Time(s.Duration/20, s.Duration)
	}
	if !s.OnDemand && d.Sometimes(0.2) {
		s.Ready = sim.Ready{
			No: d.Share(0.05, 0.9), Takes: d.Time(time.Millisecond, s.Skip), Timeout: 2 * s.Skip,
			Again: d.Time(s.Skip, 10*s.Skip),
		}
	}
}

// choices draws what operators choose, from a source of its own.
func (d drawing) choices(s *Scenario) {
	d = drawing{sim.NewDice(s.Seed, 25)}
	if d.Sometimes(0.5) {
		s.OnLost = soft.Stop
	}
	if d.Sometimes(0.25) {
		s.Slots = 2 + d.IntN(2)
	}
	if d = (drawing{sim.NewDice(s.Seed, 28)}); d.Sometimes(0.08) {
		s.Slots, s.SlotsShare = 0, int(d.Share(10, 101))
	}
}

// drawing draws parameters.
type drawing struct{ sim.Dice }

// members draws how many members there are: from 2 to 12, and up to 500 in one seed of a hundred.
func (d drawing) members(seed uint64) int {
	few := 2 + int(d.Share(1, 11)) - 1
	if large := (drawing{sim.NewDice(seed, 27)}); large.Sometimes(0.01) {
		return int(large.Share(13, 501))
	}
	return few
}

func (d drawing) faults(s *Scenario) sim.Faults {
	var f sim.Faults
	often := func() time.Duration { return d.Time(s.Duration/20, s.Duration) }
	brief := func() time.Duration { return d.Time(s.Skip/10, s.Duration/10) }
	if d.Sometimes(0.4) {
		f.CrashEvery, f.DownFor, f.MidStep = often(), brief(), d.Share(0.1, 1)
		f.HostShare = d.Maybe(0.5, 0.1, 1)
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
	if d.Sometimes(0.2) {
		f.DeafEvery, f.DeafFor, f.MuteShare = often(), brief(), 0.5
	}
	return f
}
