package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// outlook is what loss looks at.
func (m *Machine) outlook() outlook {
	return outlook{
		cfg: &m.cfg, walk: &m.walk, measures: &m.measures, handoff: &m.handoff,
		guardian: &m.guardian, token: m.custody.last(),
	}
}

// make makes a new token, held here, and uses it.
//
// In place of a lost one: "generating a new token when a component does not receive one within a timeout" (section 5).
// It is passed on at once, as in figure 2: if the old one is not really lost, another member may remove this one before
// anything runs under it.
func (m *Machine) make(now policy.Instant, which missing, out []policy.Effect) []policy.Effect {
	if which == missingNone {
		return out
	}
	birth, seq := m.numbers.create(now)
	random := which.origin().random(m.cfg.Entropy.Uint64())
	token := guardian.Token{Ref: wire.Ref{
		ID: wire.TokenID{Birth: birth, Generator: m.cfg.Self, Random: random}, Seq: seq, Slot: m.cfg.Slot,
	}}
	SetOp(&token.Load, m.measures.estimate())
	out = policy.AppendTell(out, which.note(), wire.MemberID{}, &token.Ref)
	out = m.take(now, policy.CauseMade, wire.MemberID{}, &token, m.save(out))
	out = m.loss.meet(out)
	if which == missingLost && !m.walk.alone() {
		return m.pass(now, out)
	}
	return m.serve(now, out)
}
