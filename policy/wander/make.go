package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// outlook returns what loss and passed read.
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
	m.cfg.Marks.Hit(which.mark())
	birth, seq := m.numbers.Create(now)
	random := which.origin().random(m.cfg.Entropy.Uint64())
	token := guardian.Token{Ref: wire.Ref{
		ID: wire.TokenID{Birth: birth, Generator: m.cfg.Self, Random: random}, Seq: seq, Slot: m.cfg.Slot,
	}}
	SetOp(&token.Load, m.measures.estimate())
	out = policy.AppendTell(out, which.note(), wire.MemberID{}, &token.Ref)
	out = m.take(now, policy.CauseMade, wire.MemberID{}, &token, m.save(out))
	out = m.loss.meet(out)
	if which == missingLost && !m.walk.Alone() || which == missingCertain && now.Time < m.dueAt(now.Time) {
		return m.pass(now, out)
	}
	return m.serve(now, out)
}

// An operator who sees that a gate has no token need not wait for max_interval: any member can make a new one. The
// shell has asked all other members before. This member refuses if it knows of a token, or knew of one so recently that
// it may be on its way.
//
// The members have run under the old token, perhaps a moment ago, and have passed it on. None of that may count against
// the new token, or they would remove it. Everything that happens after it was made does count: if the old token still
// exists, the first member that has had both removes the new one.

var (
	_ policy.Renewable = (*Machine)(nil)
	_ policy.Renewable = (*Slots)(nil)
)

// onItsWay is how long a token that this member knew of may be on its way, in handoff timeouts.
const onItsWay = 8

// Knows implements [policy.Renewable].
func (m *Machine) Knows(slot int, now policy.Time) string {
	since := now.Sub(m.loss.since())
	_, keeps := m.guardian.Keeps()
	switch {
	case slot != int(m.cfg.Slot):
		return "has no such token"
	case m.custody.leaves():
		return "leaves the gate"
	case m.loss.waitsAlone(&m.cfg):
		return "has not seen any other member yet"
	case m.custody.holds() || m.custody.in(running):
		return "holds the token"
	case keeps:
		return "keeps a copy of the token, and revives it if its holder is gone"
	case m.handoff.Receiving():
		return "is about to get the token"
	case since < m.cfg.timeouts(onItsWay) && m.loss.hasMet():
		return "had the token, or heard of it, " + since.Round(time.Second).String() + " ago: it may be on its way"
	}
	return ""
}

// onRenew makes a new token, unless this member knows of one.
func (m *Machine) onRenew(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.in(absent) || m.Knows(int(m.cfg.Slot), now.Time) != "" {
		return out
	}
	return m.make(now, missingRenewed, out)
}

// wasMadeAfter reports whether t is a renewed token that was made later than the given time ago. A token's age is
// slightly less than its true age.
func wasMadeAfter(since time.Duration, t *guardian.Token) bool {
	return IsRenewed(t.ID) && since >= AgeOf(&t.Load)
}

// Knows implements [policy.Renewable].
func (s *Slots) Knows(slot int, now policy.Time) string {
	if slot >= s.share.InUse() {
		return "has no such token"
	}
	return s.slot(slot).Knows(slot, now)
}

// IsRenewed reports whether a token was made because there was none: an operator has reported that, or all members have
// answered that.
func IsRenewed(id wire.TokenID) bool {
	return originOf(id) == originRenewed || originOf(id) == originCertain
}
