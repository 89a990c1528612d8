package tree

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// A gate with AsksFirst and its site use these methods, besides Regenerate. Such a gate is on UDP.

// Lose tells this site that the token it holds is over. A waiting site then looks for the queue; a leaving site is gone
// at once.
func (m *Machine) Lose(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.holds {
		return out
	}
	m.handoff.Withdraw()
	m.req, m.running = false, false
	m.gone(now.Time)
	switch {
	case m.leaving:
		return m.maybeGo(out)
	case m.wanted:
		return m.reqCS(now, out)
	}
	return out
}

// Renumber raises the number of the token here to seq. A higher number stays.
func (m *Machine) Renumber(seq wire.Seq) {
	m.token.Seq = max(m.token.Seq, seq)
	m.see(m.token.Seq)
}

// Newest is the highest number of a token that this site knows of.
func (m *Machine) Newest() wire.Seq { return m.known }

// Handoff returns the machine that passes the token on.
func (m *Machine) Handoff() *handoff.Machine { return &m.handoff.Machine }

// Inherited returns Took and Left of the token that came last: see handoff.
func (m *Machine) Inherited() (took, left time.Duration) {
	return m.handoff.outcome.Took, m.handoff.outcome.Left
}

// Standing is the place of this site in the queue: the number of predecessors it knows, less one. A site that knows no
// predecessor comes last. So does a site that knows as many as it keeps, because there may be more.
func (m *Machine) Standing() int {
	if known := len(m.predecessors()); 0 < known && known < m.cfg.Backups {
		return known - 1
	}
	return m.cfg.Backups
}
