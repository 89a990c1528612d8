package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// watch is a member's knowledge of one token that it does not hold: the oldest one that concerns it.
type watch struct {
	// live is set if this member keeps a copy of the token; excused, if the holder has asked since its last heartbeat;
	// yielded, if the holder has announced that it no longer holds the token; own, if this member was the holder and
	// has given the token up.
	live, excused, yielded, own bool
	// given is set if this member has passed the token to the holder; needless, if another member holds another token.
	given, needless bool
	// hearing is whether the holder should be heard.
	hearing hearing
	// reassured is set if a member that has heard the holder has answered a question about this copy.
	reassured bool
	// token is the copy: as this member passed it, or as in the holder's last heartbeat. Its Seq is the highest known.
	token Token
	// holder is the holder; zero if this member knows of it only by a sighting.
	holder wire.MemberID
	// count is the number of the holder's last heartbeat with this Seq. heardAt is when the holder was last heard or
	// got the token; after a sighting, heardAt is one patience earlier.
	count   wire.Nonce
	heardAt policy.Time
	// suspectAt is when this member will suspect the holder.
	suspectAt policy.Time
	// soakUntil is when the soak of its holder is over; zero if there is none.
	soakUntil policy.Time
	// kept is the grant under this token, if that outlives its host: see keep.go.
	kept kept
}

// hearing is whether a holder of which a quiet machine keeps a copy should be heard.
type hearing uint8

const (
	// quiet: it need not be heard before somebody waits.
	quiet hearing = iota
	// unheard: somebody waits, and it was not heard since.
	unheard
	// expected: it should be heard even if nobody waits: the token was passed to it, another guardian asks for it, or
	// somebody has waited in vain. From then on its silence counts.
	expected
)

// isBehind reports whether t is the watched token with a higher number.
func (w *watch) isBehind(t *wire.Ref) bool { return w.token.ID == t.ID && t.Seq > w.token.Seq }

// turnsTo reports whether the watch may change to a token. Of two that meet, it keeps the one that survives. A copy
// that this member has given up itself, because it heard nobody, has no holder: it gives way to any token that has one.
// Where answers take longer than questions last, this member would ask for the holder of its own copy for minutes, and
// guard nothing meanwhile.
func (w *watch) turnsTo(id wire.TokenID) bool { return !w.live || w.own || !w.token.ID.Precedes(id) }

// drop gives the copy up.
func (w *watch) drop() {
	w.live = false
	w.endKept()
}

// diesWith reports whether a tombstone of t includes the guarded copy.
func (w *watch) diesWith(t *wire.Ref) bool {
	return w.live && w.token.ID == t.ID && t.Seq >= w.token.Seq
}

// Latest returns the copy with the highest known Seq of a token that this member does not hold.
func (g *Machine) Latest(id wire.TokenID) (t *Token, ok bool) {
	return &g.watch.token, g.watch.token.ID == id
}

// Last returns the last known state of the token of which this member kept a copy last, and its holder. Both are zero
// if there is none; the holder is zero if this member knows of it only by a sighting.
func (g *Machine) Last() (t *Token, holder wire.MemberID) { return &g.watch.token, g.watch.holder }

// Keeps reports whether this member keeps a copy of a token that it does not hold, and returns its holder: zero if this
// member knows of it only by a sighting.
func (g *Machine) Keeps() (holder wire.MemberID, ok bool) { return g.watch.holder, g.watch.live }

// suspects reports whether a silence of the holder means anything to this member. At a quiet machine it does if
// somebody waits for the token, if its holder has announced that it no longer holds it, or if its holder should be
// heard: the token is on its way, or another guardian asks, which waits for this one to revive the token if this one
// goes first.
func (g *Machine) suspects() bool {
	w := &g.watch
	return w.live && (!g.quiet || g.awaited || w.hearing == expected || w.yielded)
}

// rank is this member's rank among the guardians.
func (g *Machine) rank() int {
	rank, _ := rankIn(&g.watch.token.Load, &g.cfg.Self)
	return rank
}

// isIn reports whether this member is in the trail of a token with that load.
func (g *Machine) isIn(load *wire.Load) bool {
	_, ok := rankIn(load, &g.cfg.Self)
	return ok
}

// learn sets the knowledge about a token. This member keeps a copy if it is in the trail and the token was not removed.
func (g *Machine) learn(now policy.Time, t *wire.Ref, load *wire.Load, holder wire.MemberID) {
	g.stopAsking()
	w := &g.watch
	w.hearKept(now, t, holder)
	w.given = w.given && w.token.ID == t.ID && w.holder == holder
	w.needless, w.reassured, w.hearing = false, false, quiet
	w.token.Ref, w.token.Load, w.soakUntil = *t, *load, g.soakUntil(now, load)
	w.holder, w.count, w.heardAt, w.excused, w.yielded, w.own = holder, 0, now, false, false, false
	if holder.IsZero() {
		w.heardAt = now.Add(-g.cfg.Patience)
	}
	w.live = !g.closed && g.isIn(load) && !g.KnowsTombstone(t)
	g.calm(now, g.patience())
}

// learnOf sets the knowledge about the token that a message is about.
func (g *Machine) learnOf(now policy.Time, m *wire.Message, holder wire.MemberID) {
	g.learn(now, &m.Token, &m.Load, holder)
}

// calm postpones suspicion. Each rank waits longer than the one before, by the duration of a question, so that only one
// guardian revives the token. While a grant is kept, nobody is suspected.
func (g *Machine) calm(now policy.Time, patience time.Duration) {
	g.stopAsking()
	at := now.Add(patience)
	if k := &g.watch.kept; k.lasts > 0 {
		g.cfg.Marks.Hit(markCalmKept)
		at = max(at, k.until)
	}
	g.watch.suspectAt = at.Add(g.questions(g.rank()))
}

// stopAsking ends a guardian's question.
func (g *Machine) stopAsking() {
	if g.question.live && !g.question.byHolder {
		g.cfg.Marks.Hit(markAskingStopped)
		g.question = question{}
	}
}

// hears reports whether a heartbeat is news: for the watched token, a later heartbeat; for another token, that this
// member should keep a copy.
func (g *Machine) hears(m *wire.Message) bool {
	w := &g.watch
	if w.token.ID == m.Token.ID {
		return m.Token.Seq > w.token.Seq || m.Token.Seq == w.token.Seq && m.Nonce > w.count
	}
	return !g.closed && g.isIn(&m.Load) && w.turnsTo(m.Token.ID)
}

// corrects reports whether the sender of a heartbeat holds an overtaken copy.
func (g *Machine) corrects(m *wire.Message) bool {
	return g.watch.token.ID == m.Token.ID && m.Token.Seq < g.watch.token.Seq
}

func (g *Machine) onHeartbeat(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	switch {
	case g.question.meets(m) && !g.hears(m):
		g.postpone(now, m)
	case g.KnowsTombstone(&m.Token):
		g.cfg.Marks.Hit(markTombstoneSent)
		tombstone := TokenOf(m)
		out, _ = g.send(KindTombstone, m.From, &tombstone, out)
	case g.corrects(m):
		g.cfg.Marks.Hit(markStaleHeartbeatCorrected)
		out, _ = g.send(KindKnown, m.From, &g.watch.token, out)
	default:
		g.learnOf(now, m, m.From)
		g.watch.count = m.Nonce
	}
	return out
}

// postpone keeps the copy of a token that is not revived now, because another member holds the token with a lower
// number, or holds another token. A quiet machine that meets the holder of a younger token in two questions, and nobody
// who holds its own, has waited long enough for that one.
func (g *Machine) postpone(now policy.Time, m *wire.Message) {
	g.cfg.Marks.Hit(markPostponed)
	w := &g.watch
	other := m.Token.ID != w.token.ID
	again := g.quiet && other && w.needless
	if w.needless = other; again || m.Token.ID.Precedes(w.token.ID) {
		g.stopAsking()
		g.cfg.Marks.Hit(markNeedless)
		w.drop()
		return
	}
	g.calm(now, g.patience())
}

// suspect asks the holder, which was silent for a patience, and the other guardians. A quiet machine does not ask a
// holder that has announced that it holds nothing: mostly it is dead, and to wait for its answer takes half a patience.
// At a machine that is not quiet the first guardian has passed the token itself, and asks nobody.
func (g *Machine) suspect(now policy.Time, out []policy.Effect) []policy.Effect {
	w := &g.watch
	if w.own {
		out = g.tellGuardians(KindYield, w.token.Trail(), &w.token, out)
		if g.askFrom == 0 {
			w.count = min(w.count+1, mostDoublings)
		}
	}
	g.cfg.Marks.Hit(markSuspected)
	out = policy.AppendTell(out, NoteSuspected, w.holder, &w.token.Ref)
	holder, unasked := w.holder, wire.MemberID{}
	if g.quiet && w.yielded {
		g.cfg.Marks.Hit(markSuspectedYielded)
		holder, unasked = unasked, holder
	}
	out = g.ask(now, &w.token, holder, out)
	// A member that was told that the holder lives will most probably be told so again.
	g.question.spreads, g.question.later, g.question.unasked = !w.reassured, w.reassured, unasked
	return out
}

// revive ends with the outcome Revived: no member knows of a holder.
func (g *Machine) revive(end *Outcome) {
	w := &g.watch
	g.cfg.Marks.Hit(markRevived)
	kept := w.kept.lasts > 0
	w.drop()
	token, trail := w.token, w.token.Trail()
	for _, id := range []wire.MemberID{g.cfg.Self, w.holder} {
		if rank, ok := trail.Rank(id); ok {
			trail.Drop(rank)
		}
	}
	token.SetTrail(&trail)
	*end = Outcome{Ending: Revived, Peer: w.holder, Token: token, Kept: kept}
}
