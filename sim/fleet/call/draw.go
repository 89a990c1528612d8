package call

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/sim"
)

// Draw returns the scenario of a seed: the seed draws every parameter, and the kinds of faults. Every fourth scenario
// is one in which nothing goes wrong.
func Draw(seed uint64) Scenario {
	d := drawing{rand.New(rand.NewPCG(seed, sim.Mix(23)))}
	s := Scenario{Seed: seed, Members: 2 + int(d.share(1, 11)) - 1, Backups: 1 + d.IntN(3)}
	s.Skip = d.time(100*time.Millisecond, 2*time.Second)
	s.Op = d.time(s.Skip/4, 4*time.Second)
	s.OnDemand = d.sometimes(0.7)
	// From an idle fleet to one with twice the load that it can carry.
	every := time.Duration(float64(s.Members) * float64(s.Op) / d.share(0.02, 2))
	s.Demand = sim.Demand{Every: every, Beside: !s.OnDemand}
	if !s.OnDemand {
		s.MinInterval = max(every, s.Op)
	}
	if d.sometimes(0.3) {
		s.Demand.Queued, s.Demand.Withdrawn = d.share(0.05, 0.5), d.share(0.01, 0.5)
	}
	s.Duration = time.Duration(d.share(20, 200)) * max(s.Op, s.Skip)
	s.Network = sim.Network{Latency: d.time(100*time.Microsecond, s.Skip/16), Encode: true}
	if d.sometimes(0.7) {
		s.Network.Jitter = d.time(s.Network.Latency/10, 3*s.Network.Latency)
	}
	s.Membership = sim.Membership{GossipAfter: d.time(time.Millisecond, time.Second)}
	s.Membership.DetectAfter = d.time(s.Membership.GossipAfter, 10*time.Second)
	s.Membership.RejoinAfter = d.time(s.Membership.DetectAfter, 20*time.Second)
	s.Hook = sim.Hook{Takes: s.Op, Spread: d.share(0.02, 1)}
	s.AskFirst = d.sometimes(0.5)
	s.EarlyWakes = d.maybe(0.3, 0.05, 0.5)
	if seed%4 == 0 {
		return s
	}
	s.WaitAlone = d.sometimes(0.5)
	if d.sometimes(0.4) {
		s.StartWithin = d.time(time.Millisecond, 20*time.Second)
	}
	if d.sometimes(0.3) {
		s.ClockSkew = d.time(time.Millisecond, time.Hour)
	}
	s.Network.Loss, s.Network.Duplicate = d.maybe(0.5, 0.001, 0.3), d.maybe(0.4, 0.001, 0.3)
	if d.sometimes(0.3) {
		s.Network.Late, s.Network.LateBy = d.share(0.01, 0.2), d.time(s.Skip, 10*s.Skip)
	}
	if d.sometimes(0.2) {
		s.Disk = sim.Disk{Slow: d.share(0.05, 1), SlowFor: d.time(s.Skip/10, 5*s.Skip), Fails: d.maybe(0.5, 0.01, 0.3)}
	}
	if d.sometimes(0.4) {
		s.Membership.Spread = d.time(time.Millisecond, 2*time.Second)
	}
	s.Faults = d.faults(&s)
	d.others(&s)
	return s
}

// others draws what only few scenarios have, from a source of its own.
func (d drawing) others(s *Scenario) {
	d = drawing{rand.New(rand.NewPCG(s.Seed, sim.Mix(24)))}
	if d.sometimes(0.1) {
		s.Operators = sim.Operators{
			Every: d.time(s.Duration/20, s.Duration), For: d.time(s.Skip, s.Duration/5), HereShare: d.share(0.1, 1),
		}
		s.EarlyWakes = 0 // A pause may end while a host stands still, and then an early wake is no early one.
	}
	if d.sometimes(0.1) {
		s.Faults.RenewEvery = d.time(s.Duration/20, s.Duration)
	}
	if !s.OnDemand && d.sometimes(0.2) {
		s.Ready = sim.Ready{
			No: d.share(0.05, 0.9), Takes: d.time(time.Millisecond, s.Skip), Timeout: 2 * s.Skip,
			Again: d.time(s.Skip, 10*s.Skip),
		}
	}
}

// drawing draws parameters.
type drawing struct{ *rand.Rand }

func (d drawing) sometimes(p float64) bool { return d.Float64() < p }

// share draws a number from a range. Each doubling is equally likely.
func (d drawing) share(from, to float64) float64 { return from * math.Pow(to/from, d.Float64()) }

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

func (d drawing) faults(s *Scenario) sim.Faults {
	var f sim.Faults
	often := func() time.Duration { return d.time(s.Duration/20, s.Duration) }
	brief := func() time.Duration { return d.time(s.Skip/10, s.Duration/10) }
	if d.sometimes(0.4) {
		f.CrashEvery, f.DownFor, f.MidStep = often(), brief(), d.share(0.1, 1)
		f.HostShare = d.maybe(0.5, 0.1, 1)
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
	if d.sometimes(0.2) {
		f.DeafEvery, f.DeafFor, f.MuteShare = often(), brief(), 0.5
	}
	return f
}
