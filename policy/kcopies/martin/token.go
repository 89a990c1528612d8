package martin

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
)

// hear gives the token an event, because of which it may come here.
func (m *Machine) hear(now policy.Time, ev *policy.Event, out []policy.Effect) []policy.Effect {
	var end kcopies.Outcome
	came, out := m.Hear(ev, &end, out)
	if came == 0 {
		return out
	}
	m.asked = false
	switch {
	case m.Wanted:
		return m.Enter(now, out)
	case m.owed:
		return m.pass(now, out)
	}
	// "The holder of the token keeps it as long as it does not receive a request."
	return out
}

// onFinished passes the token on if the successor has asked, before this member runs again.
func (m *Machine) onFinished(now policy.Time, out []policy.Effect) []policy.Effect {
	m.Running = false
	switch {
	case m.owed:
		return m.pass(now, out)
	case m.Wanted:
		return m.Enter(now, out)
	}
	return out
}

// pass passes the token on. The requests that have been kept end here.
func (m *Machine) pass(now policy.Time, out []policy.Effect) []policy.Effect {
	m.owed = false
	out = m.Pass(&kcopies.Data{}, out)
	if m.Wanted {
		return m.want(now, out)
	}
	return out
}
