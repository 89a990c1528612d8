package wander

import "github.com/wanderd/wanderd/policy"

// A host may say whether it needs a run. Until it does, its member is not due: the token passes by, as within Δmin. If the host says yes while the token
// rests here, the token is used as if a caller had come. If the host says no while the start of its run is being saved, this run does not start. A run for
// a caller does not need the host's word.

var (
	_ policy.Askable = (*Machine)(nil)
	_ policy.Askable = (*Slots)(nil)
)

// SetReady implements [policy.Askable].
func (m *Machine) SetReady(ready bool) {
	m.readied = m.state == resting && ready && (m.readied || m.unready)
	m.unready = !ready
}

// DueAt implements [policy.Askable].
func (m *Machine) DueAt(now policy.Time) policy.Time {
	if m.paused || m.cfg.OnDemand {
		return policy.Never
	}
	return m.mayRunAt(now, m.intervalEnds(now))
}

// SetReady implements [policy.Askable].
func (s *Slots) SetReady(ready bool) {
	for i := range s.machines {
		s.machines[i].SetReady(ready)
	}
}

// DueAt implements [policy.Askable]: a run counts under all tokens, so it is the same under each.
func (s *Slots) DueAt(now policy.Time) policy.Time {
	return s.slot(0).DueAt(now)
}
