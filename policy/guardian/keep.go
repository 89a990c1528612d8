package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A grant may outlive its host: the operation reboots it, and no other member is to run before that host is here again.
// So the guardians of its token wait for Keep after the holder's last word, where they wait for a patience otherwise.
// Each of them saves that before it answers, and the holder runs only when they have answered:
//
//	holder                       guardian
//	  ── Heartbeat, Keep(on) ────▶  saves the grant
//	    ◀─────────────── Kept(on) ──
//	  runs; heartbeats, also where nobody waits
//	  goes down                     waits for Keep, through restarts of its own
//	  comes back with what it has saved
//	  ── Heartbeat ──────────────▶  waits for Keep from now on
//	  is well again
//	  ── Heartbeat, Keep(over) ──▶  saves that
//	    ◀───────────── Kept(over) ──
//	  passes the token on
//
// They are asked with each heartbeat until they have answered. A Keep has the number of that heartbeat, so that one
// which is played back prolongs nothing. A holder that comes back counts from one again: a guardian tells it the number
// that it has heard from it, and the holder goes on from there; until then it would not be heard. A copy with a higher
// number, or a Yield, ends a kept grant too. What a holder that comes back late says of a number that has been
// overtaken changes nothing. A guardian that restarts meanwhile does not know how much of Keep is over, and waits for
// all of it. Members whose Keep differ each wait for their own; one that keeps no grants does not answer.

// The nonce of a Keep or of its answer is twice the number of the holder's heartbeat, and 1 more if the grant is to be
// kept no longer.
const keepsOver wire.Nonce = 1

// mostCount is the greatest number that a holder takes over from a guardian: heartbeats for eons, and far from the
// greatest that a nonce has room for.
const mostCount wire.Nonce = 1 << 48

// countOf is the number of a heartbeat in a Keep or in its answer.
func countOf(m *wire.Message) wire.Nonce { return m.Nonce >> 1 }

// isOver reports whether a Keep, or its answer, is about a grant that is kept no longer.
func isOver(m *wire.Message) bool { return m.Nonce&keepsOver != 0 }

// keeping is what a holder knows of its kept grant.
type keeping struct {
	// on is true while its guardians are to keep it, or have not all answered that they do no longer; over is true in
	// the second case.
	on, over bool
	// id is the question to them, which they answer.
	id wire.Exchange
	// by are the ranks of the guardians that have answered.
	by uint8
	// guarded is true if the token has had guardians under this grant.
	guarded bool
}

// asks is what the guardians are asked with a heartbeat.
func (k *keeping) asks(count wire.Nonce) wire.Nonce {
	if k.over {
		return count<<1 | keepsOver
	}
	return count << 1
}

// kept is what a guardian knows of the grant under its copy.
type kept struct {
	// lasts is how long it is kept after the holder's last word; zero if it is not kept. until is when that is over.
	lasts time.Duration
	until policy.Time
	// unsaved is true while the disk has another record, changed while the owner saves none.
	unsaved, changed bool
	// asked is the question of the holder that has no answer yet; zero if there is none.
	asked wire.Exchange
}

// Keep makes the holder's grant one that outlives its host: its guardians are asked to keep it. AllKeep and SomeKeep
// tell who does.
func (g *Machine) Keep(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.keeping = keeping{on: true, id: wire.Exchange(policy.Draw(g.cfg.Entropy))}
	return g.Hold(now, held, out)
}

// EndKeep ends what Keep began. The guardians are asked to keep the grant no longer, as long as the token is here.
func (g *Machine) EndKeep() {
	if g.keeping.on && !g.keeping.over {
		g.keeping = keeping{on: true, over: true, id: wire.Exchange(policy.Draw(g.cfg.Entropy))}
	}
}

// DropKeep forgets what Keep and EndKeep began: the token is no longer held.
func (g *Machine) DropKeep() { g.keeping = keeping{} }

// AllKeep reports whether all guardians of the held token have answered.
func (g *Machine) AllKeep(held *Token) bool {
	trail := held.Trail()
	return g.keeping.by == 1<<trail.Len()-1
}

// SomeKeep reports whether one of them has, or there is none. A guardian answers only about the token as it knows it:
// so its holder is not another one by now, as far as this guardian knows.
func (g *Machine) SomeKeep(held *Token) bool { return g.keeping.by != 0 || !held.Guarded() }

// AskAgain asks all guardians once more, with the next heartbeats, whether they keep the grant. It reports false if
// they were not asked to.
func (g *Machine) AskAgain() bool {
	if !g.keeping.on || g.keeping.over {
		return false
	}
	g.cfg.Marks.Hit(markKeepAskedAgain)
	again := keeping{on: true, id: wire.Exchange(policy.Draw(g.cfg.Entropy)), guarded: g.keeping.guarded}
	g.keeping = again
	return true
}

// Confirmed reports whether a guardian has answered, or there was never one. A holder that sees nobody any more may be
// cut off.
func (g *Machine) Confirmed() bool { return g.keeping.by != 0 || !g.keeping.guarded }

// askToKeep asks the guardians that have not answered.
func (g *Machine) askToKeep(held *Token, out []policy.Effect) []policy.Effect {
	if !g.keeping.on {
		return out
	}
	trail := held.Trail()
	g.keeping.guarded = g.keeping.guarded || trail.Len() > 0
	for rank, id := range trail[:trail.Len()] {
		if g.keeping.by&(1<<rank) == 0 {
			var m *wire.Message
			out, m = g.send(KindKeep, id, held, out)
			m.Nonce, m.Exchange = g.keeping.asks(g.holding.count), g.keeping.id
		}
	}
	return out
}

// keepsWord reports whether m is news about a kept grant.
func (g *Machine) keepsWord(m *wire.Message, held *Token) bool {
	w := &g.watch
	switch {
	case m.Kind == KindKept:
		return held != nil && held.Ref == m.Token && g.keeping.on && m.Exchange == g.keeping.id
	case m.Kind == KindKeep:
		watched := w.live && w.token.Ref == m.Token && w.holder == m.From
		return watched && (g.cfg.Keep > 0 || isOver(m)) || held == nil && g.comesFirst(m)
	}
	return false
}

// comesFirst reports whether a Keep has come before the first heartbeat of its holder; or before the first one that
// names this member as a guardian, under a number that it knows, because it has passed the token on itself. Else it
// would guard the token without keeping the grant until it is asked again, and the holder may go down before that.
func (g *Machine) comesFirst(m *wire.Message) bool {
	w := &g.watch
	chosen := !w.live && w.token.Ref == m.Token && w.holder == m.From && countOf(m) > w.count
	isNews := chosen || w.isBehind(&m.Token) || w.token.ID != m.Token.ID && w.turnsTo(m.Token.ID)
	return isNews && g.cfg.Keep > 0 && !isOver(m) && !g.closed && g.isIn(&m.Load) && !g.KnowsTombstone(&m.Token)
}

// onKeep handles a message about a kept grant.
func (g *Machine) onKeep(now policy.Time, m *wire.Message, held *Token, out []policy.Effect) []policy.Effect {
	if m.Kind == KindKept {
		g.onKept(m, held)
		return out
	}
	if held == nil && g.comesFirst(m) {
		g.cfg.Marks.Hit(markKeepChosen)
		known, count := g.watch.token.Ref, g.watch.count
		if g.learnOf(now, m, m.From); known == m.Token {
			g.watch.count = count // The heartbeats of before, which do not name this member, are no news.
		}
	}
	k := &g.watch.kept
	if countOf(m) < g.watch.count {
		g.cfg.Marks.Hit(markKeepOvertaken)
		k.asked = m.Exchange
		return g.answerKeep(out)
	}
	if isOver(m) {
		g.cfg.Marks.Hit(markKeepOver)
		g.watch.endKept()
		k.asked = m.Exchange
		g.calm(now, g.patience())
		return g.answerKeep(out)
	}
	if k.lasts == 0 || k.unsaved && !g.saving {
		g.cfg.Marks.Hit(markKeepUnsaved)
		k.unsaved, k.changed = true, true
	}
	k.lasts, k.until, k.asked = g.cfg.Keep, now.Add(g.cfg.Keep), m.Exchange
	g.calm(now, g.patience())
	return g.answerKeep(out)
}

// onKept handles an answer. One that names a later heartbeat than this holder has sent is about a former life of it,
// and the guardian is asked again, with the next heartbeat. So is one that has heard a later heartbeat before the Keep:
// it took that for an old one, and its answer says that it does not keep the grant.
func (g *Machine) onKept(m *wire.Message, held *Token) {
	rank, ok := rankIn(&held.Load, &m.From)
	switch count := countOf(m); {
	case count > mostCount && count > g.holding.count:
	case count > g.holding.count:
		g.cfg.Marks.Hit(markKeptLater)
		g.holding.count = count
	case ok && isOver(m) == g.keeping.over:
		g.keeping.by |= 1 << rank
	}
	if g.keeping.over && g.AllKeep(held) {
		g.cfg.Marks.Hit(markKeptOver)
		g.keeping.on, g.keeping.over = false, false
	}
}

// answerKeep answers the holder, if the grant is saved.
func (g *Machine) answerKeep(out []policy.Effect) []policy.Effect {
	w := &g.watch
	if k := &w.kept; k.asked != 0 && !k.unsaved && !w.holder.IsZero() {
		var m *wire.Message
		out, m = g.send(KindKept, w.holder, &w.token, out)
		if m.Nonce, m.Exchange = w.count<<1, k.asked; k.lasts == 0 {
			m.Nonce |= keepsOver
		}
		k.asked = 0
	}
	return out
}

// MustSave reports whether the record of a kept grant has changed: the owner saves what Kept returns, and calls Saving
// then, and Saved when that is durable.
func (g *Machine) MustSave() bool { return g.watch.kept.changed }

// Saving records that the owner saves.
func (g *Machine) Saving() { g.saving, g.watch.kept.changed = true, false }

// Saved answers the holder of a kept grant when all is durable. After a failure the holder asks again, and that leads
// to another save.
func (g *Machine) Saved(failed bool, out []policy.Effect) []policy.Effect {
	g.saving = false
	k := &g.watch.kept
	k.unsaved = k.unsaved && (failed || k.changed)
	return g.answerKeep(out)
}

// Kept returns the grant of another member that this guardian keeps; it is zero if there is none.
func (g *Machine) Kept() (k policy.Kept) {
	if w := &g.watch; w.kept.lasts > 0 {
		k = policy.Kept{Holder: w.holder, Token: w.token.Ref, Load: w.token.Load, For: w.kept.lasts}
	}
	return k
}

// AppendFacts appends the kept grant that this member knows of: another one's, or its own, which no guardian keeps yet
// if its time is over; and until when the held token is not used.
func (g *Machine) AppendFacts(now policy.Time, slot uint8, held *Token, out []policy.Fact) []policy.Fact {
	if until := g.Unused(); held != nil && until > now {
		out = append(out, policy.Fact{Key: policy.KeySoakUntil, Slot: slot, At: until})
	}
	switch w := &g.watch; {
	case w.kept.lasts > 0:
		f := policy.Fact{Key: policy.KeyKept, Slot: slot, Member: w.holder, For: w.kept.lasts, At: w.kept.until}
		return append(out, f)
	case g.keeping.on && !g.keeping.over:
		f := policy.Fact{Key: policy.KeyKept, Slot: slot, Member: g.cfg.Self, For: g.cfg.Keep, At: now}
		if g.keeping.by != 0 {
			f.At = now.Add(g.cfg.Keep)
		}
		return append(out, f)
	}
	return out
}

// KeptUntil is when the grant that this guardian keeps is over; ok is false if there is none.
func (g *Machine) KeptUntil() (at policy.Time, ok bool) {
	return g.watch.kept.until, g.watch.live && g.watch.kept.lasts > 0
}

// Restore continues as the guardian that this member was in an earlier life.
func (g *Machine) Restore(now policy.Time, k *policy.Kept) {
	if !k.Is() || g.cfg.Keep == 0 {
		return
	}
	g.cfg.Marks.Hit(markKeepRestored)
	load := k.Load
	SetSoakLeft(&load, 0) // A host that is back soaks for the whole time.
	g.learn(now, &k.Token, &load, k.Holder)
	lasts := min(k.For, g.cfg.Keep)
	g.watch.kept = kept{lasts: lasts, until: now.Add(lasts)}
	g.calm(now, g.patience())
}

// hearKept takes news of a token: the holder's word prolongs its kept grant; anything newer ends it.
func (w *watch) hearKept(now policy.Time, t *wire.Ref, holder wire.MemberID) {
	k := &w.kept
	switch {
	case w.token.ID != t.ID || t.Seq > w.token.Seq:
		w.endKept()
		k.asked = 0
	case k.lasts > 0 && holder == w.holder:
		k.until = now.Add(k.lasts)
	}
}

// endKept ends the kept grant: it is not to be taken up after a restart.
func (w *watch) endKept() {
	if w.kept.lasts > 0 {
		w.kept = kept{unsaved: true, changed: true}
	}
}
