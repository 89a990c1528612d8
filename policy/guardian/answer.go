package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// onAsk answers a question about a token that this member does not hold with one message: a guardian says when it heard the holder,
// another member sends the last state of the token that it knows. A question also contains what the asker knows, and shows that it
// lives.
func (g *Machine) onAsk(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	w := &g.watch
	kind, about := KindKnown, &w.token
	asked := TokenOf(m)
	switch {
	case g.knowsBurial(&m.Token):
		kind, about = KindBuried, &asked
	case w.token.ID != m.Token.ID:
		about = &asked
	case w.isBehind(&m.Token):
		g.learnOf(now, m, wire.MemberID{})
	case m.From == w.holder && m.Token.Seq == w.token.Seq && !w.excused:
		// Only once before its next beat: a replayed question may come long after its death.
		w.heardAt, w.excused = now, true
		g.calm(now, g.patience())
	}
	if about == &w.token && w.live {
		kind = KindHeard
	}
	out, answer := g.send(kind, m.From, about, out)
	answer.Exchange = m.Exchange
	if kind == KindHeard {
		answer.Nonce = wire.Nonce(max(now.Sub(w.heardAt), 1))
	}
	return out
}
