package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// "A gate may have a hook, take commands, or both. A demand is one bit to the machine; local callers queue at the agent." A member of
// a gate on demand is due only when it is wanted, and after min_interval if there is one. Each demand leads to at most one run. The token
// still visits all members, and rests for skip at a member that does not want it.
//
// In a gate with a hook, min_interval applies to the hook only, and a member that is wanted is due at once. If the hook is due too, hook and callers take
// turns: see package pace. A caller's run counts neither for min_interval nor for op.

// unwanted reports whether this member does not run because no caller waits, or because the gate is paused.
func (m *Machine) unwanted() bool { return m.paused || m.cfg.OnDemand && !m.wanted }

// overrides reports whether a caller waits that need not wait for min_interval.
func (m *Machine) overrides() bool { return m.wanted && !m.cfg.OnDemand }

// onWanted: a caller waits for a run here. A token that rests here is used at once, unless it has had a grant on this visit: a member that
// is wanted again and again must not keep it.
func (m *Machine) onWanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.wanted = true
	if m.state == running && !m.demanded && !m.cfg.OnDemand {
		m.turns.Owe()
	}
	return m.reconsider(now, out)
}

// reconsider uses a token that rests here at once if this member has become due.
func (m *Machine) reconsider(now policy.Instant, out []policy.Effect) []policy.Effect {
	due, had := m.dueAt(now.Time), m.numbers.wasGranted(m.token.Seq)
	switch {
	case m.state != resting || had && !m.peers.alone():
	case now.Time >= due || m.peers.alone() || !m.waitsUntilDue && m.dueSoon(now.Time, due):
		return m.serve(now, out)
	}
	return out
}

// onUnwanted: no caller waits any longer. A run that has not started does not start. A token that was kept only until this member is due
// rests for skip, as it does at any member.
func (m *Machine) onUnwanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.wanted = false
	m.turns.Gone()
	if m.cfg.OnDemand || m.granting() && m.demanded {
		return m.desist(now, out)
	}
	return out
}

// desist: this member is not due any more.
func (m *Machine) desist(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case m.granting():
		return m.serve(now, m.retract(out))
	case m.state == resting && m.waitsUntilDue:
		m.restUntil, m.waitsUntilDue = min(m.restUntil, now.Time.Add(m.cfg.Skip)), false
	}
	return out
}

// onOrdered: the gate is paused, or not any more. While it is paused, the token goes round and rests for skip at each member, as if nobody were due.
func (m *Machine) onOrdered(now policy.Instant, paused bool, out []policy.Effect) []policy.Effect {
	if m.paused = paused; paused {
		return m.desist(now, out)
	}
	return m.reconsider(now, out)
}

// visit is how long the token stays with a member, by the constants: the duration of the operation. In a gate on demand a lap may pass
// without a run, and a lap of skips may take longer than one of short operations.
func (m *Machine) visit() time.Duration {
	if m.cfg.OnDemand {
		return max(m.op(), m.cfg.Skip)
	}
	return m.op()
}

// plain reports whether this is the plain paper: a random walk without guardians and demands.
func (m *Machine) plain() bool {
	return m.cfg.Walk == Random && m.cfg.Backups == 0 && !m.cfg.OnDemand
}
