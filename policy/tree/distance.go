package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
)

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
	nearest := m.handoff.Nearest()
	if len(m.cfg.Roster) > 1+handoff.MaxDistances && m.firstAnswer > 0 {
		nearest = min(nearest, m.firstAnswer) // The handoff remembers only those that are furthest away.
	}
	if needed := policy.Times(2, nearest); needed > t.Liveness {
		by := int(min((needed+t.Liveness-1)/t.Liveness, mostStretched))
		t.Commit, t.Token = policy.Times(by, t.Commit), policy.Times(by, t.Token)
		t.Reconnection, t.Liveness = policy.Times(by, t.Reconnection), policy.Times(by, t.Liveness)
	}
	return t
}

// searched notes that a search begins. If those before it have had no answer, the next answer may be to the first one.
func (m *Machine) searched(now policy.Time) {
	longest := policy.Times(mostStretched, m.cfg.Timers.Reconnection)
	if m.searchedAt == 0 || now.Sub(m.searchedAt) > longest {
		m.searchedAt = now
	}
}

// found records how long the first answer to a search took. The nearest site is no further away. Later answers do not
// count: a search is repeated where messages are lost, each site answers each repetition, and so most sites of a large
// roster seem slow. A site that is far away learns that at once, and forgets it slowly.
func (m *Machine) found(now policy.Time) {
	if m.searchedAt != 0 {
		took := now.Sub(m.searchedAt)
		m.firstAnswer, m.searchedAt = max(took, m.firstAnswer-(m.firstAnswer-took)/16), 0
	}
}

// measure records how long the answer of a site took, in time or late. From this, a site that has never got the token
// learns how patient it must be, and other sites learn how far away the next site is. An answer to an earlier question
// than the last seems quicker than it was.
func (m *Machine) measure(now policy.Time, from rank) {
	if m.handoff != nil && m.askedAt != 0 {
		m.handoff.Measure(m.cfg.Roster[from], now.Sub(m.askedAt))
	}
}
