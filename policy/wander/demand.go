package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// "A gate may have a hook, take commands, or both. A demand is one bit to the machine; local callers queue at the agent." A member of
// a gate on demand is due when it is wanted, and never otherwise; min_interval holds where there is one. There is one run at most for
// each demand. The token goes round all members all the same: where nobody waits for it, it rests for skip.
//
// In a gate with a hook min_interval is the hook's. A member that is wanted is due at once; the grant is the hook's if that is due, too, and
// else for those who wait: such a run counts neither for min_interval nor for op. So neither keeps the other from its turn.

// unwanted reports whether this member does not run because nobody waits for it.
func (m *Machine) unwanted() bool { return m.cfg.OnDemand && !m.wanted }

// overrides reports whether somebody waits who has not to wait for min_interval.
func (m *Machine) overrides() bool { return m.wanted && !m.cfg.OnDemand }

// idle reports whether the token stays here until somebody waits for it, or somebody else is there.
func (m *Machine) idle() bool { return m.unwanted() && m.restUntil == policy.Never }

// onWanted: somebody waits for a run here. A token that rests here need not go round first, unless it has had its grant on this visit: a
// member that is wanted again and again must not keep it.
func (m *Machine) onWanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.wanted = true
	due, had := m.dueAt(now.Time), m.numbers.granted == m.token.Seq
	switch {
	case m.state != resting || had && !m.peers.alone():
	case now.Time >= due || m.peers.alone() || !m.waitsUntilDue && m.dueSoon(now.Time, due):
		return m.serve(now, out)
	}
	return out
}

// onUnwanted: nobody waits any longer. A run that has not started does not start, and a token that has only waited for this member to be
// due rests for no longer than anywhere.
func (m *Machine) onUnwanted(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.wanted = false
	switch {
	case m.granting() && (m.cfg.OnDemand || m.demanded):
		return m.serve(now, m.retract(out))
	case m.state == resting && m.waitsUntilDue && m.cfg.OnDemand:
		m.restUntil, m.waitsUntilDue = min(m.restUntil, now.Time.Add(m.cfg.Skip)), false
	}
	return out
}

// visit is how long the token is with a member, by the constants: for as long as the operation takes. In a gate on demand nobody may
// run for a whole lap, and a lap of skips may take longer than one of short operations.
func (m *Machine) visit() time.Duration {
	if m.cfg.OnDemand {
		return max(m.op(), m.cfg.Skip)
	}
	return m.op()
}

// plain reports whether this is the paper's own gate, to which nothing is added.
func (m *Machine) plain() bool {
	return m.cfg.Walk == Random && m.cfg.Backups == 0 && !m.cfg.OnDemand
}
