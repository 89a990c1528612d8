package wander

import "github.com/wanderd/wanderd/policy"

// If the host says that it needs a run while the token rests here, the token is used as if a caller had come. If the
// host says no while the start of its run is being saved, this run does not start.

var (
	_ policy.Askable = (*Machine)(nil)
	_ policy.Askable = (*Slots)(nil)
)

// SetReady implements [policy.Askable].
func (m *Machine) SetReady(ready bool) {
	m.custody.ready(ready, m.schedule.setReady(ready))
}

// DueAt implements [policy.Askable].
func (m *Machine) DueAt(now policy.Time) policy.Time {
	return m.schedule.ifReady(&m.cfg, now, m.shelves(now))
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
