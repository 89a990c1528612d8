package strict

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
)

// Status implements [policy.Machine].
func (g *Machine) Status(now policy.Time) policy.Status {
	s := g.in.Status(now)
	s.HasRun, s.LastRun, s.NextRun = g.due.hasRun, g.due.lastRun, policy.Never
	if !g.due.onDemand || g.due.called {
		s.NextRun = max(now, g.ownAt())
		if g.due.called && !g.due.onDemand {
			s.NextRun = now
		}
		s.NextRun = g.calendar.Opens(s.NextRun)
	}
	t := g.b.Token()
	if s.Holding = t != nil; s.Holding {
		s.Token, s.Holder = *t, g.set.Roster.ID(g.self)
	}
	switch {
	case g.barred != "":
		s.Phase, s.Why = "barred", g.barred
	case g.turn.state == running:
		s.Phase, s.Why = "running", "running"
	case !g.b.HasMajority(now):
		s.Why, s.Bar = "no majority: "+g.b.Missing(), policy.BarNoMajority
	case g.turn.state == entered && g.turn.saving:
		s.Phase, s.Why = "entered", "recording the start"
	case g.turn.state == entered:
		s.Phase, s.Why = "entered", "waiting for the lease of a majority"
	case g.leaving || g.due.onDemand && !g.due.called:
	case !g.isOpen(now):
		s.Why = pace.WhyClosed
	case s.NextRun > now:
		s.Why = g.due.repeat.Why()
	case g.due.unready && !g.due.called:
		s.Why = "due, and the host has not said that it is ready"
	}
	return s
}

// Facts implements [policy.Machine].
func (g *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	if g.due.hasRun {
		out = append(out, policy.Fact{Key: policy.KeyIntervalEnds, At: g.ownAt()})
	}
	return g.b.Facts(now, g.in.Facts(now, g.calendar.Facts(now, g.due.repeat.Facts(out))))
}
