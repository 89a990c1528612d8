package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/wire"
)

// Runs that failed are repeated: see package pace.

func (m *Machine) pace() pace.Pace {
	return pace.Pace{MinInterval: m.cfg.MinInterval, RetryAfter: m.cfg.RetryAfter}
}

// repeat is what is to follow the last run.
func (m *Machine) repeat() pace.Repeat { return pace.Repeat{Wait: m.ran.wait, Failures: m.failures} }

func (m *Machine) setRepeat(r pace.Repeat) { m.ran.wait, m.failures = r.Wait, r.Failures }

// interval is the time from the start of the last run to the next one: Δmin, or less if that run is to be repeated.
func (m *Machine) interval() time.Duration { return m.pace().Interval(m.repeat()) }

// conclude decides after a run when the next one is due. A caller's command is repeated by the caller only.
func (m *Machine) conclude(now policy.Time, o policy.Outcome, out []policy.Effect) []policy.Effect {
	if m.cfg.RetryAfter == 0 || m.cfg.OnDemand || m.demanded {
		return out
	}
	before := m.repeat()
	m.setRepeat(m.pace().After(before, m.ran.at, now, o))
	if note := m.pace().NoteOf(o); note != 0 {
		out = policy.AppendTell(out, note, wire.MemberID{}, &m.token.Ref)
	}
	if m.repeat() == before {
		return out
	}
	return m.save(out)
}
