package wander

import (
	"math"

	"github.com/wanderd/wanderd/policy"
)

// Tune takes other constants. A token that rests here is reconsidered at once, because this member may now be due. An
// offer or a run in progress goes on by the old constants. Skip cannot change: handoffs and guardians depend on it.
func (m *Machine) Tune(p policy.Protocol) bool {
	s, ok := p.(Settings)
	if !ok || s.Skip != m.cfg.Skip || max(s.Slots, 1) != int(m.cfg.LastSlot)+1 {
		return false
	}
	m.cfg.Settings = &s
	m.schedule.tune(&m.cfg)
	if m.custody.in(resting) {
		m.custody.hurry(math.MinInt64)
	}
	return true
}

// Tune tunes the machines of all slots.
func (s *Slots) Tune(p policy.Protocol) bool {
	for i := range s.machines {
		if !s.machines[i].Tune(p) {
			return false // The first one refuses if any does.
		}
	}
	return true
}

var (
	_ policy.Tunable = (*Machine)(nil)
	_ policy.Tunable = (*Slots)(nil)
)
