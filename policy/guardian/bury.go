package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// maxBuried is how many removed tokens a member remembers.
const maxBuried = 4

// burial is a token that was removed, and how far it had come: a copy with a higher number is another matter.
type burial struct {
	id  wire.TokenID
	seq wire.Seq
}

// Bury follows a token that this member has removed by a rule of its protocol: its guardians are told, and must not revive it.
func (g *Machine) Bury(removed *wire.Token, out []policy.Effect) []policy.Effect {
	g.remember(removed)
	if g.watch.diesWith(removed) {
		g.stopAsking()
		g.watch.live = false
	}
	return g.tellGuardians(wire.KindBuried, &removed.Trail, removed, out)
}

func (g *Machine) remember(t *wire.Token) {
	for i := range g.buried {
		if b := &g.buried[i]; b.id == t.ID {
			b.seq = max(b.seq, t.Seq)
			return
		}
	}
	g.buried[g.buriedNext] = burial{id: t.ID, seq: t.Seq}
	g.buriedNext = (g.buriedNext + 1) % maxBuried
}

// knowsBurial reports whether this member knows that a copy as far as t was removed.
func (g *Machine) knowsBurial(t *wire.Token) bool {
	for i := range g.buried {
		if b := &g.buried[i]; b.id == t.ID && b.seq >= t.Seq {
			return true
		}
	}
	return false
}

// mayBeAsked reports whether a burial is of a token that this member has guarded before it turned to an older one: others who
// guard it still may ask.
func (g *Machine) mayBeAsked(m *wire.Message) bool {
	return g.watch.token.ID != m.Token.ID && m.Token.Trail.Has(g.cfg.Self) && !g.knowsBurial(&m.Token)
}

// onBuried stands down: the token was removed. Who asks later is told so.
func (g *Machine) onBuried(now policy.Time, m *wire.Message, out []policy.Effect) (Outcome, []policy.Effect) {
	switch {
	case g.watch.diesWith(&m.Token):
	case g.question.waitsFor(m):
		return g.answered(now, m.From), out
	default:
		g.remember(&m.Token)
		return Outcome{}, out
	}
	g.stopAsking()
	g.remember(&m.Token)
	g.watch.live = false
	return Outcome{}, policy.AppendTell(out, NoteStoodDown, m.From, &m.Token)
}
