package martin

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// endedToken does what a call for the token led to. The detector never errs, so this member may regenerate it at once.
func (m *Machine) endedToken(now policy.Time, end *kcopies.Outcome, from wire.MemberID, out []policy.Effect) []policy.Effect {
	came, out := m.token.Settle(end, out)
	if came == 0 {
		return out
	}
	return m.onToken(now, came, from, out)
}

func (m *Machine) onToken(now policy.Time, how policy.Cause, from wire.MemberID, out []policy.Effect) []policy.Effect {
	m.asked = false
	ref := m.token.Ref()
	out = policy.AppendTook(out, how, from, &ref)
	switch {
	case m.wanted:
		return m.run(now, out)
	case m.owed:
		return m.pass(now, out)
	}
	// "The holder of the token keeps it as long as it does not receive a request."
	return out
}

func (m *Machine) run(now policy.Time, out []policy.Effect) []policy.Effect {
	m.wanted, m.running = false, true
	m.hasRun, m.lastRun = true, now
	ref := m.token.Ref()
	return policy.AppendRun(out, &ref, policy.Never)
}

// onFinished passes the token on if the successor has asked, before this member runs again.
func (m *Machine) onFinished(now policy.Time, out []policy.Effect) []policy.Effect {
	m.running = false
	switch {
	case m.owed:
		return m.pass(now, out)
	case m.wanted:
		return m.run(now, out)
	}
	return out
}

// pass passes the token on. The requests that have been kept end here.
func (m *Machine) pass(now policy.Time, out []policy.Effect) []policy.Effect {
	m.owed = false
	ref := m.token.Ref()
	out = policy.AppendGave(out, policy.CausePassed, m.ring.Ring[m.ring.Successor()], &ref)
	out = m.token.SafeSendToken(&kcopies.Data{}, out)
	if m.wanted {
		return m.want(now, out)
	}
	return out
}
