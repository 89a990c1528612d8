package tree

import "github.com/wanderd/wanderd/policy"

// mostStretched is how many times longer timers take at most: messages that were late by chance must not stop a site
// for long.
const mostStretched = 12

// timers are the configured ones. At a site that is further away from the others than "two messages" of a Liveness, all
// take as many times longer: it would take all others for crashed otherwise, and propose a new token again and again,
// which no majority allows and which makes it refuse the one that there is.
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

// measure records how long the answer of a site took, in time or late. A site that has never got the token learns from
// this how patient it must be, and others how far away the next site is. An answer to an earlier question than the last
// seems quicker than it was.
func (m *Machine) measure(now policy.Time, from rank) {
	if m.handoff != nil && m.askedAt != 0 {
		m.handoff.Measure(m.cfg.Roster[from], now.Sub(m.askedAt))
	}
}
