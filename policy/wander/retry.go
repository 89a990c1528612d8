package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The paper knows no failures: a run counts for Δmin whatever it has achieved. Here a failed run is repeated after retry_after, and after
// twice as long for each further failure in a row, but no later than Δmin after its start. An operation that says "not now" has not
// failed, and is asked again after retry_after.
//
// The wait is saved, so a restart neither forgets it nor begins the row of failures anew. A run whose end this member has not seen, because
// its process died, counts for Δmin.

// interval is the time from the start of the last run to the next one: Δmin, or less if that run is to be repeated.
func (m *Machine) interval() time.Duration {
	if m.ran.wait > 0 {
		return m.ran.wait
	}
	return m.cfg.MinInterval
}

// conclude decides after a run when the next one is due. A command of a caller is the caller's to repeat.
func (m *Machine) conclude(now policy.Time, o policy.Outcome, out []policy.Effect) []policy.Effect {
	if m.cfg.RetryAfter == 0 || m.cfg.OnDemand || m.demanded {
		return out
	}
	switch {
	case o == policy.Failed:
		m.failures = min(m.failures, math.MaxUint8-1) + 1
		m.repeatAfter(now, m.backOff())
		out = policy.AppendTell(out, NoteFailed, wire.MemberID{}, &m.token.Ref)
	case o == policy.NotNow:
		m.failures = 0
		m.repeatAfter(now, m.cfg.RetryAfter)
		out = policy.AppendTell(out, NoteNotNow, wire.MemberID{}, &m.token.Ref)
	case m.failures == 0:
		return out
	default:
		m.failures = 0
	}
	return m.save(out)
}

// backOff is the wait after the last of so many failures in a row.
func (m *Machine) backOff() time.Duration {
	wait := m.cfg.RetryAfter
	for i := uint8(1); i < m.failures && wait < m.cfg.MinInterval; i++ {
		wait = times(2, wait)
	}
	return wait
}

// repeatAfter makes this member due again when wait is over, and at the latest Δmin after the start of the last run.
func (m *Machine) repeatAfter(now policy.Time, wait time.Duration) {
	m.ran.wait = min(now.Add(wait).Sub(m.ran.at), m.cfg.MinInterval)
}
