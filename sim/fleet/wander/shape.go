package wander

import (
	"time"

	"github.com/wanderd/wanderd/sim"
)

// soaks: the grant stays with a host for a while after its operation, and some hosts are not healthy then. Without
// guardians a fleet needs the right max_interval for that.
func (d drawing) soaks(s *Scenario) {
	if s.LongLap || s.restarts() || s.Standing != NothingStands {
		return
	}
	s.Hook.Soak, s.Hook.Unhealthy = d.Time(s.Skip/10, 4*s.Op), d.Maybe(0.5, 0.01, 0.5)
	s.fitLap()
}

// fitLap gives a scenario whose laps have become longer time for them.
func (s *Scenario) fitLap() {
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
	s.lasts(s.lap())
}

// lasts lets a scenario last for that time at least, with no more faults than before.
func (s *Scenario) lasts(d time.Duration) {
	if d = min(d, 1_000_000*s.Skip); d <= s.Duration {
		return
	}
	by := float64(d) / float64(s.Duration)
	s.Duration = d
	f := &s.Faults
	for _, every := range []*time.Duration{
		&f.CrashEvery, &f.PauseEvery, &f.LeaveEvery, &f.CutEvery, &f.DeafEvery, &f.LoseTokenEvery, &f.ForgeEvery,
		&f.RenewEvery, &f.Groups.RackEvery, &f.Groups.StopEvery, &s.Operators.Every,
	} {
		*every = time.Duration(by * float64(*every))
	}
}

// downLimit: a run starts only if few members are down. What stays wrong with a member would keep all others from
// running.
func (d drawing) downLimit(s *Scenario) {
	if !s.LongLap && !s.restarts() && s.Standing == NothingStands {
		s.Shape.MaxDown = s.Tokens() + d.IntN(3)
	}
}

// stages: canaries run before the others. Between two runs of a canary there is time for all of them.
func (d drawing) stages(s *Scenario) {
	if s.onDemand() || s.LongLap || s.restarts() || s.Standing != NothingStands || s.Windows != nil || s.Members < 2 ||
		s.Members > sim.MostStaged {
		return
	}
	d.DrawStages(&s.Shape, s.Members, s.Duration)
	s.Membership.Spread = min(s.Membership.Spread, 4*s.Skip)
	h := &s.Hook
	h.Timeout, h.KillAfter, h.Deaf, h.Hangs, h.Fails = 0, 0, 0, 0, d.Maybe(0.5, 0.01, 0.2)
	s.MinInterval = max(s.MinInterval, s.roomForStages())
	s.MaxInterval = 0
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
	s.lasts(2 * s.MinInterval)
}

// roomForStages is a min_interval in which all stages have their turns.
func (s *Scenario) roomForStages() time.Duration {
	return 3*s.lap() + 6*(s.Membership.GossipAfter+s.Membership.Spread)
}

// fitsShape reports whether a scenario is fit for its shape.
func (s *Scenario) fitsShape() bool {
	h, p := &s.Hook, &s.Shape
	if *p == (sim.Shape{}) {
		return true
	}
	staged := p.Canaries >= 1 && p.Second >= 0 && p.Canaries+p.Second < s.Members && p.FirstWait > 0 && !s.onDemand() &&
		s.Windows == nil && h.Timeout == 0 && h.Hangs == 0 && s.MinInterval >= s.roomForStages()*9/10
	return !s.LongLap && !s.restarts() && s.Standing == NothingStands && s.Core.Of == 0 &&
		(p.MaxDown == 0 || p.MaxDown >= s.Tokens()) && (staged || p.Canaries == 0 && p.Second == 0)
}
