package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// outlook is what loss looks at.
func (m *Machine) outlook() outlook {
	return outlook{
		cfg: &m.cfg, walk: &m.walk, measures: &m.measures, handoff: &m.handoff, guardian: &m.guardian, token: m.custody.last(),
	}
}

// onMissing makes the token that is missing.
func (m *Machine) onMissing(now policy.Instant, out []policy.Effect) []policy.Effect {
	o := m.outlook()
	makes, out := m.loss.wake(&o, now, out)
	switch makes {
	case missingNone:
	case missingFirst:
		out = m.makeFirst(now, out)
	case missingLost:
		out = m.regenerate(now, out)
	}
	return out
}

// makeFirst makes the first token of the fleet.
func (m *Machine) makeFirst(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.loss.disarm()
	return m.serve(now, m.make(now, NoteMinted, originFirst, out))
}

// regenerate: "generating a new token when a component does not receive one within a timeout" (section 5). Each time it
// raises Δgen. The new token is passed on at once, as in figure 2: if the old one is not really lost, another member
// may remove this one before anything runs under it.
func (m *Machine) regenerate(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = m.make(now, NoteRegenerated, originLost, out)
	if m.walk.alone() {
		return m.serve(now, out)
	}
	return m.pass(now, out)
}

// make makes a new token, held here.
func (m *Machine) make(now policy.Instant, why policy.Note, from origin, out []policy.Effect) []policy.Effect {
	birth, seq := m.numbers.create(now)
	token := guardian.Token{Ref: wire.Ref{
		ID:  wire.TokenID{Birth: birth, Generator: m.cfg.Self, Random: from.random(m.cfg.Entropy.Uint64())},
		Seq: seq, Slot: m.cfg.Slot,
	}}
	SetOp(&token.Load, m.measures.estimate())
	out = policy.AppendTell(out, why, wire.MemberID{}, &token.Ref)
	out = m.take(now, policy.CauseMade, wire.MemberID{}, &token, m.save(out))
	return m.loss.meet(out)
}
