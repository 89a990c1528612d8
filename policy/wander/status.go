package wander

import "github.com/wanderd/wanderd/policy"

// Status describes this member for operators, as of now.
func (m *Machine) Status(now policy.Time) policy.Status {
	s := policy.Status{
		State: m.state.String(), Why: m.why(now),
		Holding: m.holds, Token: m.token, LastTo: m.lastTo,
		SilentSince: m.silentSince,
		HasRun:      m.hasRun, LastRun: m.lastRun, NextRun: m.dueAt(now),
		Op: m.op(), OpSource: m.opSource(),
		RegenerateAfter: m.regenerateAfter(), MaxInterval: m.maxInterval(), Lap: m.lap, TooShort: m.tooShort(),
		RegenerateArmed: m.state == absent && m.regenerates(),
		RegenerateAt:    m.regenerateAt(),
		RoundTrip:       m.handoff.RoundTrip(),
	}
	s.Holder, s.Guards = m.guardian.Guards()
	return s
}

func (m *Machine) why(now policy.Time) policy.Why {
	switch {
	case m.state == running:
		return policy.WhyRunning
	case m.granting():
		return policy.WhySaving
	case m.leaving:
		return policy.WhyLeaving
	case m.waitsAlone():
		return policy.WhyAlone
	case now < m.dueAt(now):
		return policy.WhyTooSoon
	case m.holds:
		return policy.WhyPassing
	}
	return policy.WhyNoToken
}
