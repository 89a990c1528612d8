package call

import (
	"github.com/wanderd/wanderd/policy"
)

// The reasons why a member does not run its operation now, as clauses that complete "not running because …"; packages
// soft and pace have others.
const (
	// WhyRunning: it runs.
	WhyRunning = "running"
	// WhyNoToken: it is due, and has called the token.
	WhyNoToken = "due, waiting for the token"
	// WhyPassing: it is due only after this token has been passed on.
	WhyPassing = "passing the token on"
	// WhyLeaving: it is stopping.
	WhyLeaving = "leaving"
	// WhySaving: it is due, and the start of its run is being saved.
	WhySaving = "due, recording the start"
	// WhyAsking: it is due and holds the token, and waits for the word of a home that no other copy is newer.
	WhyAsking = "due, waiting for a home's answer"
)

// Status describes this member.
func (m *Machine) Status(now policy.Time) policy.Status {
	next := m.schedule.Next(m.cfg.terms(), now, false)
	s := policy.Status{
		Phase: m.custody.state.String(), Why: m.notRunning(now, next), NextRun: next, Since: m.known.at,
		Holding: m.custody.holds(), Token: m.custody.token.Ref, Holder: m.known.holder,
	}
	s.LastRun, s.HasRun = m.schedule.LastRun()
	if m.custody.holds() {
		s.Holder = m.cfg.Self
	}
	return s
}

// Facts appends the other facts about this member.
func (m *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	out = append(out,
		policy.Fact{Key: policy.KeySkip, For: m.cfg.Skip},
		policy.Fact{Key: policy.KeyMinInterval, For: m.cfg.MinInterval},
		policy.Fact{Key: policy.KeyBackups, Count: m.cfg.homes()},
		policy.Fact{Key: policy.KeyMaxInterval, For: m.cfg.maxInterval()})
	out = m.schedule.WindowFacts(now, m.schedule.Facts(m.cfg.terms(), now, out))
	if holder, guards := m.guardian.Keeps(); guards {
		out = append(out, policy.Fact{Key: policy.KeyKeeps, Member: holder})
	}
	if m.custody.holds() {
		trail := m.custody.token.Trail()
		for _, id := range trail[:trail.Len()] {
			out = append(out, policy.Fact{Key: policy.KeyGuardian, Member: id})
		}
	}
	return out
}
