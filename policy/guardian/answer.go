package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// onAsk answers a question about a token that this member does not hold. A question also carries what the asker knows,
// and shows that the asker lives.
func (g *Machine) onAsk(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	w := &g.watch
	switch {
	case g.KnowsTombstone(&m.Token):
		g.cfg.Marks.Hit(markAskedOfTombstone)
	case w.token.ID != m.Token.ID:
		g.cfg.Marks.Hit(markAskedOfAnother)
		g.giveWay(now, m)
	case w.isBehind(&m.Token):
		if !g.hasHeardLately(now) {
			g.cfg.Marks.Hit(markAskedLater)
			g.learnOf(now, m, wire.MemberID{})
		}
	case m.From == w.holder && m.Token.Seq == w.token.Seq && !w.excused:
		// Only once before the holder's next heartbeat: a replayed question may come long after the holder's death.
		g.cfg.Marks.Hit(markAskedByHolder)
		w.heardAt, w.excused = now, true
		g.calm(now, g.patience())
	case g.quiet && w.live && m.From != w.holder && !g.suspects() && !g.hasHeardLately(now) &&
		g.goesBefore(m):
		// The asker waits for this member to revive the token.
		g.cfg.Marks.Hit(markAskedToRevive)
		w.hearing = expected
		g.calm(now, 0)
	}
	return g.Reply(now, m, nil, out)
}

// goesBefore reports whether an asker lets this guardian go first; see letsGoFirst. A guardian that goes later need not
// ask because of that: if each one made all others ask, they would go on for ever.
func (g *Machine) goesBefore(ask *wire.Message) bool {
	theirs := TrailOf(&ask.Load)
	rank, ok := theirs.Rank(ask.From)
	return !ok || g.rank() < rank || g.rank() == rank && g.cfg.Self.Compare(ask.From) < 0
}

// giveWay postpones the revival of a token, because another member may be about to revive an older token. When this
// member asks again, the holder of the older token answers.
func (g *Machine) giveWay(now policy.Time, ask *wire.Message) {
	if g.question.live && !g.question.byHolder && ask.Token.ID.Precedes(g.watch.token.ID) {
		g.cfg.Marks.Hit(markGaveWay)
		g.calm(now, g.patience())
	}
}

// Reply answers a question with one message, and learns nothing from the question. A holder answers that it holds the
// token; a guardian, when it heard the holder; any other member, with the last state of the token that it knows.
func (g *Machine) Reply(now policy.Time, m *wire.Message, held *Token, out []policy.Effect) []policy.Effect {
	kind, about := KindKnown, TokenOf(m)
	switch {
	case g.KnowsTombstone(&m.Token):
		kind = KindTombstone
	case held != nil:
		return g.claim(m, held, out)
	case g.watch.token.ID == m.Token.ID:
		about = g.watch.token
		if g.watch.live {
			kind = KindHeard
		}
	}
	out, answer := g.send(kind, m.From, &about, out)
	answer.Exchange = m.Exchange
	if kind == KindHeard {
		answer.Nonce = wire.Nonce(max(now.Sub(g.watch.heardAt), 1))
		if until, kept := g.KeptUntil(); kept && now < until {
			g.cfg.Marks.Hit(markRepliedKept)
			answer.Nonce = 1 // The asker must wait as this member does.
		}
	}
	return out
}

// claim answers a question with a heartbeat: this member holds the token, or another token of the gate.
func (g *Machine) claim(m *wire.Message, held *Token, out []policy.Effect) []policy.Effect {
	g.cfg.Marks.Hit(markClaimed)
	g.holding.count++
	out, answer := g.sendHeartbeat(m.From, held, out)
	answer.Exchange = m.Exchange
	return out
}

// hasHeardLately reports whether this member keeps a copy of a token and has, within the last patience, heard its
// holder or passed the token to it. This counts for more than what another member has heard.
func (g *Machine) hasHeardLately(now policy.Time) bool {
	return g.watch.live && now.Sub(g.watch.heardAt) < g.cfg.Patience
}
