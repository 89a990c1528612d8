package strict

import (
	"github.com/wanderd/wanderd/policy"
)

var _ policy.Tunable = (*Machine)(nil)

// Tune takes another pace and other windows. No other setting can change: the members of the roster have agreed on it, or a running lease depends on it.
func (g *Machine) Tune(p policy.Protocol) bool {
	s, ok := p.(Settings)
	if !ok || s.fixed() != g.set.fixed() {
		return false
	}
	g.set.MinInterval, g.set.RetryAfter, g.set.Windows = s.MinInterval, s.RetryAfter, s.Windows
	g.calendar.Set(s.Windows)
	g.due.repeat = g.pace().Held(g.due.repeat)
	return true
}

// fixed are the settings that cannot change while a member is here. The roster is the seat's.
func (s Settings) fixed() any {
	return [...]any{s.Moves, s.Request, s.Backups, s.Lease, s.KillAfter, s.Margin, s.Rho, s.Patience}
}
