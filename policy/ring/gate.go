package ring

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// A gate with AsksFirst and its member use these methods: see the interface inner of package strict. Such a gate is
// over UDP.

// AsksToRegenerate reports whether this member waits for permission to make a token. It withdraws the question when a
// token comes.
func (m *Machine) AsksToRegenerate() bool { return m.asks }

// Regenerate makes a token, without a copy, and begins a recounting tour. The token's number must be above all numbers
// of the gate's tokens, and this member must not hold a token. The tour's number is drawn at random, because the
// members that know the last tour's number may be away.
func (m *Machine) Regenerate(now policy.Instant, token *wire.Ref, out []policy.Effect) []policy.Effect {
	m.asks, m.placed = false, true
	m.udp.newLife()
	m.copies.IssueAs(token)
	return m.begin(now, uint32(policy.Draw(m.cfg.Entropy)), out)
}

// Lose tells this member that the token it holds is over. A waiting member asks again.
func (m *Machine) Lose(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.holds() {
		return out
	}
	m.udp.handoff.Withdraw()
	m.copies.Lose()
	m.become(absent)
	m.pending, m.asked, m.mp = false, false, false
	m.since = now.Time
	return m.decide(now, m.need(now, out))
}

// Renumber raises the number of the token here to seq. A higher number stays.
func (m *Machine) Renumber(seq wire.Seq) { m.copies.Issue(seq) }

// Newest is the highest number of a token that this member has met.
func (m *Machine) Newest() wire.Seq { return m.copies.Count() }

// Handoff returns the machine that passes the token on.
func (m *Machine) Handoff() *handoff.Machine { return &m.udp.handoff }

// Inherited returns Took and Left of the token that came last: see handoff.
func (m *Machine) Inherited() (took, left time.Duration) { return m.udp.took, m.udp.left }

// Standing is the place of this member, from 0, among the members that keep a copy of the token. A member without a
// copy is behind them. "The detection sets are nested": the member with the smallest set is the first to regenerate.
func (m *Machine) Standing() int {
	if d := m.copies.D(); d > 1 {
		return d - 2
	}
	return m.cfg.Backups
}
