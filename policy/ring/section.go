package ring

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// enter begins the critical section. Its fencing number is saved first, so that no later life grants this number again.
func (m *Machine) enter(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.become(saving)
	m.until = now.Time.Add(m.cfg.Timeout)
	return policy.AppendSave(out, policy.State{Seq: m.copies.Count(), HasRun: true, LastRun: now.Time})
}

func (m *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	switch {
	case m.state != saving:
		return out
	case failed || !m.wanted || now.Time >= m.until:
		return m.deny(now, out)
	}
	m.become(running)
	m.wanted, m.hasRun, m.lastRun = false, true, now.Time
	ref := m.copies.Ref()
	out = policy.AppendTell(out, NoteRan, wire.MemberID{}, &ref)
	return policy.AppendRun(out, &ref, m.until)
}

func (m *Machine) onFinished(now policy.Instant, denied bool, out []policy.Effect) []policy.Effect {
	if m.state != running {
		return out
	}
	if denied {
		return m.deny(now, out)
	}
	m.until = now.Time
	return m.exit(now, out)
}

// deny ends a grant without a run. If the token stays here, this member does not try again at once.
func (m *Machine) deny(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.until = now.Time
	if m.wanted {
		m.until = now.Time.Add(m.cfg.Timeout)
		ref := m.copies.Ref()
		out = policy.AppendTell(out, NoteDenied, wire.MemberID{}, &ref)
	}
	return m.exit(now, out)
}
