package tree

import "github.com/wanderd/wanderd/policy"

// mostStretched is how many times longer timers last at most: messages that were late by chance must not stop a site
// for long.
const mostStretched = 12

// timers returns the configured timers. At a site that is further away from the others than "two messages" of a
// Liveness, all timers last as many times longer. Otherwise it would take all others for crashed, and propose a new
// token again and again. No majority would allow that token, and because of its proposals the site would refuse the
// existing one.
func (m *Machine) timers() Timers {
	t := m.cfg.Timers
	if m.handoff == nil {
		return t
	}
	if needed := policy.Times(2, m.handoff.Nearest()); needed > t.Liveness {
		by := int(min((needed+t.Liveness-1)/t.Liveness, mostStretched))
		t.Commit, t.Token = policy.Times(by, t.Commit), policy.Times(by, t.Token)
		t.Reconnection, t.Liveness = policy.Times(by, t.Reconnection), policy.Times(by, t.Liveness)
	}
	return t
}

// measure records how long the answer of a site took, in time or late. From this, a site that has never got the token
// learns how patient it must be, and other sites learn how far away the next site is. An answer to an earlier question
// than the last seems quicker than it was.
func (m *Machine) measure(now policy.Time, from rank) {
	if m.handoff != nil && m.askedAt != 0 {
		m.handoff.Measure(m.cfg.Roster[from], now.Sub(m.askedAt))
	}
}
