package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A Yield announces that its sender no longer holds the token, and that no other member does. Either the holder has
// died during its run, and the guard of its hook sends the Yield for it; or no message reaches the holder. So the
// token's guardians need not wait for a silence. A Yield is about one number of one token: members that know a higher
// number, or have heard a later heartbeat, ignore it.

// mostDoublings bounds the doublings of the interval in which a member that has given up its token repeats its Yield.
const mostDoublings = 6

// Yield tells the guardians that no member holds the token: this member has given it up because it hears no other. It
// cannot know whether any other hears it. So it keeps a copy, with the last rank: it repeats the Yield and asks for the
// token's state. In a large fleet it asks other members each time. Once all were asked, the intervals grow. It revives
// the token if a member answers and none has news, or if there is no other member (TakeBack).
func (g *Machine) Yield(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.EndDoubt()
	out = g.tellGuardians(KindYield, held.Trail(), held, out)
	if g.watch.turnsTo(held.ID) {
		g.stopAsking()
		g.watch = watch{
			live: !g.closed, own: true, token: *held, soakUntil: g.holding.usedFrom(),
			heardAt: now.Add(-g.cfg.Patience), suspectAt: now.Add(g.cfg.Patience / heartbeatsPerPatience),
		}
	}
	return out
}

// tellsAgainAfter is the interval until the next repetition of the Yield. Here the count of heartbeats counts how often
// all members were asked, because no member sends heartbeats to this one.
func (g *Machine) tellsAgainAfter() time.Duration {
	if g.askFrom > 0 {
		return g.cfg.Patience / questionsPerPatience
	}
	return g.cfg.Patience << g.watch.count
}

// TakeBack revives a token that this member gave up because it heard no other. It must be called when there is no other
// member.
func (g *Machine) TakeBack(end *Outcome) {
	if g.watch.live && g.watch.own {
		g.stopAsking()
		g.revive(end)
	}
}

// PreSign gives the guard of the running hook the Yields to send if this process dies: then this member no longer holds
// the token, and no handoff has begun.
func (g *Machine) PreSign(held *Token, out []policy.Effect) []policy.Effect {
	trail := held.Trail()
	for _, to := range trail[:trail.Len()] {
		out = policy.AppendPreSign(out, &wire.Message{
			Gate: g.cfg.Gate, Kind: KindYield, From: g.cfg.Self, To: to, Token: held.Ref, Load: held.Load,
		})
	}
	return out
}

// yields reports whether m, a Yield, is news of the guarded token: it comes from the last known holder, or from a later
// one.
func (g *Machine) yields(m *wire.Message) bool {
	w := &g.watch
	if !w.live || w.token.ID != m.Token.ID || !g.isIn(&m.Load) {
		return false
	}
	sameHolder := w.holder.IsZero() || m.From == w.holder
	return w.isBehind(&m.Token) || m.Token.Seq == w.token.Seq && sameHolder && !w.yielded
}

// onYield revives the token at once if this member is the first guardian. The others wait half a patience for each rank
// before them, then ask as after a silence.
func (g *Machine) onYield(now policy.Time, m *wire.Message, end *Outcome) {
	w := &g.watch
	count := w.count
	given := w.given && w.holder == m.From
	if w.isBehind(&m.Token) {
		count = 0
	}
	g.cfg.Marks.Hit(markYielded)
	g.learnOf(now, m, m.From)
	w.endKept()
	if !w.live {
		return
	}
	// Earlier heartbeats are no news, and neither is a question of the holder.
	w.yielded, w.excused, w.count, w.heardAt = true, true, count, now.Add(-g.cfg.Patience)
	if g.rank() == 0 && given {
		g.cfg.Marks.Hit(markYieldRevives)
		g.revive(end)
		return
	}
	g.calm(now, 0)
}
