package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// maxTombstones is how many removed tokens a member remembers.
const maxTombstones = 4

// tombstone is a removed token with its number. It does not apply to a copy with a higher number.
type tombstone struct {
	id  wire.TokenID
	seq wire.Seq
}

// Tombstone must be called after this member has removed a token by a rule of its protocol. It tells the token's
// guardians, which must not revive it.
func (g *Machine) Tombstone(removed *Token, out []policy.Effect) []policy.Effect {
	g.cfg.Marks.Hit(markTombstone)
	g.remember(&removed.Ref)
	if g.watch.diesWith(&removed.Ref) {
		g.stopAsking()
		g.watch.drop()
	}
	return g.tellGuardians(KindTombstone, removed.Trail(), removed, out)
}

func (g *Machine) remember(t *wire.Ref) {
	for i := range g.tombstones {
		if b := &g.tombstones[i]; b.id == t.ID {
			b.seq = max(b.seq, t.Seq)
			return
		}
	}
	g.tombstones[g.tombstoneNext] = tombstone{id: t.ID, seq: t.Seq}
	g.tombstoneNext = (g.tombstoneNext + 1) % maxTombstones
}

// KnowsTombstone reports whether this member knows that the token was removed with the number of t or a higher one.
func (g *Machine) KnowsTombstone(t *wire.Ref) bool {
	for i := range g.tombstones {
		if b := &g.tombstones[i]; b.id == t.ID && b.seq >= t.Seq {
			return true
		}
	}
	return false
}

// mayBeAsked reports whether a tombstone is about a token of which this member kept a copy before it turned to an older
// one: that token's other guardians may still ask.
func (g *Machine) mayBeAsked(m *wire.Message) bool {
	return g.watch.token.ID != m.Token.ID && g.isIn(&m.Load) && !g.KnowsTombstone(&m.Token)
}

// onTombstone gives up the copy of a removed token. Members that ask later get the tombstone as the answer.
func (g *Machine) onTombstone(now policy.Time, m *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	switch {
	case g.watch.diesWith(&m.Token):
	case g.question.waitsFor(m):
		g.cfg.Marks.Hit(markTombstoneAnswers)
		g.answered(now, m.From, end)
		return out
	default:
		g.remember(&m.Token)
		return out
	}
	g.cfg.Marks.Hit(markStoodDown)
	g.stopAsking()
	g.remember(&m.Token)
	g.watch.drop()
	return policy.AppendTell(out, NoteStoodDown, m.From, &m.Token)
}
