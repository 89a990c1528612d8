package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// watch is what a member knows of a token that it does not hold. It is of one token: the oldest that it has to do with.
type watch struct {
	// live says that this member is one of the token's guardians; excused, that the holder has asked since its last beat; yielded,
	// that it has said that it holds the token no longer; own, that this member itself was the holder, and has given it up.
	live, excused, yielded, own bool
	// token is the copy: as it was passed on from here, or as its holder last showed it. Its Seq is the highest known.
	token wire.Token
	// holder is who holds it; zero if somebody does of whom this member knows only by hearsay.
	holder wire.MemberID
	// count is the holder's last beat under this Seq, and heardAt when the holder was last heard, or given the token; a patience
	// before this was learnt if that was by hearsay.
	count   wire.Nonce
	heardAt policy.Time
	// suspectAt is when this member loses patience.
	suspectAt policy.Time
}

// isBehind reports whether t is the watched token, later.
func (w *watch) isBehind(t *wire.Token) bool { return w.token.ID == t.ID && t.Seq > w.token.Seq }

// turnsTo reports whether the watch may turn to a token. A member guards one only: the one that survives where two meet.
func (w *watch) turnsTo(id wire.TokenID) bool { return !w.live || !w.token.ID.Precedes(id) }

// diesWith reports whether the copy that is guarded is one of those that t's burial buries.
func (w *watch) diesWith(t *wire.Token) bool {
	return w.live && w.token.ID == t.ID && t.Seq >= w.token.Seq
}

// Latest returns what is known of a token that is not held: its copy with the highest Seq.
func (g *Machine) Latest(id wire.TokenID) (t *wire.Token, ok bool) {
	return &g.watch.token, g.watch.token.ID == id
}

// Last returns the token that this member has last guarded, as it knows it, and who holds that; zero if there is none, or if this
// member knows of its holder only by hearsay.
func (g *Machine) Last() (t *wire.Token, holder wire.MemberID) { return &g.watch.token, g.watch.holder }

// Guards reports whether this member guards a token that it does not hold, and who holds that; zero if this member knows only
// by hearsay.
func (g *Machine) Guards() (holder wire.MemberID, ok bool) { return g.watch.holder, g.watch.live }

// rank is this member's place among the guardians.
func (g *Machine) rank() int {
	rank, _ := g.watch.token.Trail.Rank(g.cfg.Self)
	return rank
}

// learn takes up what is known of a token from now on. This member guards it if the trail says so, and it was not removed.
func (g *Machine) learn(now policy.Time, t *wire.Token, holder wire.MemberID) {
	g.stopAsking()
	w := &g.watch
	w.token, w.holder, w.count, w.heardAt, w.excused, w.yielded, w.own = *t, holder, 0, now, false, false, false
	if holder.IsZero() {
		w.heardAt = now.Add(-g.cfg.Patience)
	}
	w.live = !g.closed && t.Trail.Has(g.cfg.Self) && !g.knowsBurial(t)
	g.calm(now, g.patience())
}

// calm puts suspicion off. A guardian of a higher rank waits for a question longer than the one before it, so that only one
// revives the token.
func (g *Machine) calm(now policy.Time, patience time.Duration) {
	g.stopAsking()
	g.watch.suspectAt = now.Add(patience).Add(g.questions(g.rank()))
}

// stopAsking ends a guardian's question.
func (g *Machine) stopAsking() {
	if !g.question.byHolder {
		g.question = question{}
	}
}

// hears reports whether a Beat is news: of the watched token, one later than all before; of another, that this member is to
// guard it.
func (g *Machine) hears(m *wire.Message) bool {
	w := &g.watch
	if w.token.ID == m.Token.ID {
		return m.Token.Seq > w.token.Seq || m.Token.Seq == w.token.Seq && m.Nonce > w.count
	}
	return !g.closed && m.Token.Trail.Has(g.cfg.Self) && w.turnsTo(m.Token.ID)
}

// corrects reports whether the sender of a Beat holds a copy that has been overtaken.
func (g *Machine) corrects(m *wire.Message) bool {
	return g.watch.token.ID == m.Token.ID && m.Token.Seq < g.watch.token.Seq
}

func (g *Machine) onBeat(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	answer := g.message(wire.KindBuried, m.From, &m.Token)
	switch {
	case g.knowsBurial(&m.Token):
	case g.corrects(m):
		answer = g.message(wire.KindKnown, m.From, &g.watch.token)
	default:
		g.learn(now, &m.Token, m.From)
		g.watch.count = m.Nonce
		return out
	}
	return policy.AppendSend(out, &answer)
}

// suspect: nothing was heard of the holder for a patience. It is asked, and so are the other guardians.
func (g *Machine) suspect(now policy.Time, out []policy.Effect) []policy.Effect {
	w := &g.watch
	if w.own {
		out = g.tellGuardians(wire.KindYield, &w.token.Trail, &w.token, out)
		w.count = min(w.count+1, mostDoublings)
	}
	out = policy.AppendTell(out, NoteSuspected, w.holder, &w.token)
	return g.ask(now, &w.token, w.holder, out)
}

// revive: nobody knows of a holder.
func (g *Machine) revive() Outcome {
	w := &g.watch
	w.live = false
	token := w.token
	for _, id := range []wire.MemberID{g.cfg.Self, w.holder} {
		if rank, ok := token.Trail.Rank(id); ok {
			token.Trail.Drop(rank)
		}
	}
	return Outcome{Ending: Revived, Peer: w.holder, Token: token}
}
