package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A holder may know that it holds its token no longer, and that nobody else does: it has died in the middle of its run, and the
// guard of the run says so in its name; or nothing reaches it any more. Its guardians need not wait for a silence then. It is about
// one number of one token: who knows of a higher one, or hears a later beat, minds it no more.

// mostDoublings is how often the time doubles after which a member that has given up its token tells its guardians again.
const mostDoublings = 6

// Yield tells the guardians of the token that this member has held, and holds no more, that nobody holds it: this member hears nobody.
// It cannot know whether anybody hears it. So it keeps a copy, behind all the guardians: it tells them again, less and less often, and
// asks what has become of the token. It revives it if somebody answers and nobody knows better, or if nobody else is there (TakeBack).
func (g *Machine) Yield(now policy.Time, held *wire.Token, out []policy.Effect) []policy.Effect {
	g.endDoubt()
	out = g.tellGuardians(wire.KindYield, &held.Trail, held, out)
	if g.watch.turnsTo(held.ID) {
		g.stopAsking()
		g.watch = watch{
			live: !g.closed, own: true, token: *held,
			heardAt: now.Add(-g.cfg.Patience), suspectAt: now.Add(g.cfg.Patience / beatsPerPatience),
		}
	}
	return out
}

// tellsAgainAfter is how long a member that has given up its token, and heard nothing, waits until it tells its guardians again. The
// count of beats, which nobody sends it, counts how often it has.
func (g *Machine) tellsAgainAfter() time.Duration { return g.cfg.Patience << g.watch.count }

// TakeBack revives a token that this member has given up because it heard nobody, now that nobody else is there.
func (g *Machine) TakeBack() Outcome {
	if !g.watch.live || !g.watch.own {
		return Outcome{}
	}
	g.stopAsking()
	return g.revive()
}

// Entrust gives the guard of the run that is going on what it has to tell the guardians if this process dies: it can hold the
// token no longer then, and no handoff of it has begun.
func (g *Machine) Entrust(held *wire.Token, out []policy.Effect) []policy.Effect {
	for _, to := range held.Trail[:held.Trail.Len()] {
		m := g.message(wire.KindYield, to, held)
		out = policy.AppendEntrust(out, &m)
	}
	return out
}

// yields reports whether m, a Yield, is news of the token that is guarded here: its last known holder says it, or one of whom
// this member has not heard yet.
func (g *Machine) yields(m *wire.Message) bool {
	w := &g.watch
	if !w.live || w.token.ID != m.Token.ID || !m.Token.Trail.Has(g.cfg.Self) {
		return false
	}
	sameHolder := w.holder.IsZero() || m.From == w.holder
	return w.isBehind(&m.Token) || m.Token.Seq == w.token.Seq && sameHolder && !w.yielded
}

// onYield: the first guardian revives the token at once. The others give each before them half a patience, and ask then, as after a
// silence.
func (g *Machine) onYield(now policy.Time, m *wire.Message) Outcome {
	w := &g.watch
	count := w.count
	if w.isBehind(&m.Token) {
		count = 0
	}
	g.learn(now, &m.Token, m.From)
	if !w.live {
		return Outcome{}
	}
	// Beats from before are no news, and neither is a question of the holder's.
	w.yielded, w.excused, w.count, w.heardAt = true, true, count, now.Add(-g.cfg.Patience)
	if g.rank() == 0 {
		return g.revive()
	}
	g.calm(now, 0)
	return Outcome{}
}
