package wander

import "github.com/wanderd/wanderd/policy/pace"

// A member is due only while a window of its gate is open: "a member that may not run passes the token on; nobody ever holds and waits for a window". The
// only exception is a member that keeps the token because it is due soon: it also keeps the token for a window that opens within a lap of skips.

// setCalendar makes the calendar of the present windows. Most machines have none.
func (m *Machine) setCalendar() {
	old := m.calendar
	if m.calendar = nil; len(m.cfg.Windows) > 0 {
		m.calendar = &pace.Calendar{Windows: &m.cfg.Windows}
		if old != nil {
			m.calendar.Ahead = old.Ahead
		}
	}
}
