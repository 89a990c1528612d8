package strict

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/pace"
)

// WhySoak is why a member that is due does not run while another one soaks, or has died or was stopped in its soak.
const WhySoak = "the soak of another host is not over"

// Status implements [policy.Machine].
func (g *Machine) Status(now policy.Time) policy.Status {
	s := g.in.Status(now)
	s.HasRun, s.LastRun, s.NextRun = g.due.hasRun, g.due.lastRun, policy.Never
	if !g.due.onDemand || g.due.wanted {
		s.NextRun = max(now, g.ownAt())
		if g.due.wanted && !g.due.onDemand {
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
	case g.leaving || g.due.onDemand && !g.due.wanted:
	case !g.isOpen(now):
		s.Why = pace.WhyClosed
	case s.NextRun > now && g.whyTaken(now) != "":
		s.Why = g.whyTaken(now)
	case s.NextRun > now:
		s.Why = g.due.repeat.Why()
	case t == nil && now < g.b.SoakUntil():
		s.Why = WhySoak
	case g.due.unready && !g.due.wanted:
		s.Why = "due, and the host has not said that it is ready"
	}
	return s
}

// Facts implements [policy.Machine].
func (g *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	if g.due.hasRun {
		out = append(out, policy.Fact{Key: policy.KeyIntervalEnds, At: g.ownAt()})
	}
	out = g.b.Facts(now, g.in.Facts(now, g.calendar.Facts(now, g.due.repeat.Facts(out))))
	return g.distanceFacts(out)
}

// distanceFacts appends how far away the furthest members are, if that is further than a strict gate expects. It also
// appends the lease that this distance needs, if it is longer than the gate's. There is no setting for how long an
// answer may take: each member learns it from the others' answers.
func (g *Machine) distanceFacts(out []policy.Fact) []policy.Fact {
	trip := g.in.Handoff().RoundTrip()
	if trip <= g.set.Patience/2 {
		return out
	}
	out = append(out, policy.Fact{Key: policy.KeyRoundTrip, For: trip.Round(time.Millisecond), Text: fmt.Sprintf(
		"of the furthest member; up to %v is near. After a start it takes minutes until all know how far away it is",
		g.set.Patience/2)})
	const step = 100 * time.Millisecond
	if least := ballot.LeastLease(g.set.KillAfter, g.set.Margin, trip, g.set.Rho); g.set.Lease < least {
		out = append(out, policy.Fact{Key: policy.KeyLeastLease, For: (least + step - 1) / step * step})
	}
	return out
}
