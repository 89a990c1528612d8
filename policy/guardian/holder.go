package guardian

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// holding is the state of a holder.
type holding struct {
	// count numbers the heartbeats of all held tokens, so that a replayed heartbeat is not the newest.
	count wire.Nonce
	// heartbeatAt is when the next heartbeat is due.
	heartbeatAt policy.Time
	// soakUntil is when the soak of this member's host is over, and unusedUntil when that of a former holder is, which
	// has died or was stopped in it; zero if there is none.
	soakUntil, unusedUntil policy.Time
}

// Hold must be called when this member begins to hold a token, or changes its guardians. It sends heartbeats at once.
func (g *Machine) Hold(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.stopWatching(held)
	g.keeping.by = 0
	return g.sendHeartbeats(now, held, out)
}

// stopWatching ends what this member does as a guardian of a token that it holds now.
func (g *Machine) stopWatching(held *Token) {
	g.EndDoubt()
	if g.watch.token.ID == held.ID || g.watch.needless {
		g.stopAsking()
		g.watch.drop()
	}
}

// Heartbeat sends heartbeats before they are due. While this member doubts its token, they follow.
func (g *Machine) Heartbeat(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	if held == nil || g.Doubting() {
		return out
	}
	return g.sendHeartbeats(now, held, out)
}

// Announce is Hold for a holder that wants to be heard: each guardian in to is to answer the heartbeat, with that
// identity. The package does not send that answer by itself.
func (g *Machine) Announce(
	now policy.Time, held *Token, to Trail, id wire.Exchange, out []policy.Effect,
) []policy.Effect {
	g.stopWatching(held)
	g.holding.heartbeatAt = now.Add(g.cfg.Patience / heartbeatsPerPatience)
	g.holding.count++
	g.keeping.by = 0
	for _, each := range to[:to.Len()] {
		var m *wire.Message
		out, m = g.sendHeartbeat(each, held, out)
		m.Exchange = id
	}
	return g.askToKeep(held, out)
}

// BeQuiet is for a token that may rest where nobody waits for it: from now on a holder sends heartbeats, and a guardian
// suspects, only while somebody waits, or after somebody has waited in vain. It must be called before the first event.
func (g *Machine) BeQuiet() { g.quiet = true }

// Await tells a quiet machine whether somebody waits for the token. A guardian's patience begins when somebody does. It
// goes on when nobody waits any more before the holder was heard: those who wait may all give up before a patience is
// over, and the next one would find the same silence.
func (g *Machine) Await(now policy.Time, waits bool) {
	if waits == g.awaited || !g.quiet {
		return
	}
	g.awaited = waits
	w := &g.watch
	if !waits {
		if w.live && w.hearing == unheard {
			w.hearing = expected
		}
		return
	}
	g.holding.heartbeatAt = now.Add(g.cfg.Patience / heartbeatsPerPatience)
	if w.hearing != expected && !g.question.live {
		g.calm(now, g.patience())
	}
	w.hearing = max(w.hearing, unheard)
}

// mustSend reports whether this member must send heartbeats: it holds a token with guardians, and is not in doubt.
func (g *Machine) mustSend(held *Token) bool {
	return held != nil && !g.Doubting() && held.Guarded() && (g.awaited || !g.quiet || g.keeping.on)
}

// sendHeartbeats sends the guardians heartbeats: this member holds the token.
func (g *Machine) sendHeartbeats(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.holding.heartbeatAt = now.Add(g.cfg.Patience / heartbeatsPerPatience)
	g.holding.count++
	trail := held.Trail()
	for _, to := range trail[:trail.Len()] {
		out, _ = g.sendHeartbeat(to, held, out)
	}
	return g.askToKeep(held, out)
}

func (g *Machine) sendHeartbeat(to wire.MemberID, held *Token, out []policy.Effect) ([]policy.Effect, *wire.Message) {
	out, m := g.send(KindHeartbeat, to, held, out)
	m.Nonce = g.holding.count
	return out, m
}

// Greet tells a member that is no guardian that this member holds a token.
func (g *Machine) Greet(to wire.MemberID, held *Token, out []policy.Effect) []policy.Effect {
	g.holding.count++
	out, _ = g.sendHeartbeat(to, held, out)
	return out
}

// Dismiss answers the heartbeat of another token's holder: that token is no more, because by a rule of the protocol the
// one that this member holds survives.
func (g *Machine) Dismiss(heartbeat *wire.Message, out []policy.Effect) []policy.Effect {
	other := TokenOf(heartbeat)
	out, _ = g.send(KindTombstone, heartbeat.From, &other, out)
	return out
}

// Overdue reports whether this member has been away, paused or starved, for so long since its last heartbeat that its
// guardians may suspect it.
func (g *Machine) Overdue(now policy.Time, held *Token) bool {
	if !g.mustSend(held) {
		return false
	}
	lastHeartbeat := g.holding.heartbeatAt.Add(-g.cfg.Patience / heartbeatsPerPatience)
	return now >= lastHeartbeat.Add(g.cfg.Patience)
}

// Doubt asks the guardians whether the held token has been revived, because this member was away. Sure or Overtaken
// follows. Doubt also restarts the patience for another token of which this member keeps a copy, because it may have
// missed heartbeats of that token's holder.
func (g *Machine) Doubt(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.calm(now, g.patience())
	out = policy.AppendTell(out, NoteDoubting, wire.MemberID{}, &held.Ref)
	out = g.ask(now, held, wire.MemberID{}, out)
	g.question.byHolder = true
	return out
}

// Probe finds out whether a holder that was not away can hear any other member. It asks the guardians, and then others
// if the guardians do not answer. Answered follows at the first answer, Overtaken if a copy with a higher number is
// known, or Sure if no member answers.
func (g *Machine) Probe(now policy.Time, held *Token, out []policy.Effect) []policy.Effect {
	g.calm(now, g.patience())
	out = policy.AppendTell(out, NoteUnanswered, wire.MemberID{}, &held.Ref)
	out = g.ask(now, held, wire.MemberID{}, out)
	g.question.byHolder, g.question.first, g.question.later = true, true, true
	return out
}

// Doubting reports whether a question of the holder is open.
func (g *Machine) Doubting() bool { return g.question.live && g.question.byHolder }

// EndDoubt forgets the question of a holder. It must be called after the held token was discarded without being passed
// on.
func (g *Machine) EndDoubt() {
	if g.Doubting() {
		g.question = question{}
	}
}

// onWordOfHeld handles a message about the held token.
func (g *Machine) onWordOfHeld(now policy.Time, m *wire.Message, held *Token, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	switch {
	case m.Kind == KindAsk:
		return g.claim(m, held, out)
	case g.overtakes(m, held):
		g.onOvertaken(now, m, end)
		return out
	case g.question.waitsFor(m):
		g.answered(now, m.From, end)
		return out
	}
	g.cfg.Marks.Hit(markStaleHeartbeat)
	// A heartbeat: its sender holds a copy that the copy held here has overtaken.
	out, _ = g.sendHeartbeat(m.From, held, out)
	return out
}

// Passed must be called after a token was passed to another member: from now on this member keeps a copy, if it is in
// the trail. Passed releases a guardian that dropped out of the trail. before is the trail while the token was held;
// passed is the token as it was passed on.
func (g *Machine) Passed(now policy.Time, before Trail, passed *Token, to wire.MemberID,
	out []policy.Effect,
) []policy.Effect {
	g.EndDoubt()
	g.DropKeep()
	token, trail := *passed, passed.Trail()
	token.Seq = token.Seq.After()
	for _, id := range before[:before.Len()] {
		if id != to && !trail.Has(id) {
			out, _ = g.send(KindKnown, id, &token, out)
		}
	}
	if g.watch.turnsTo(token.ID) {
		g.learn(now, &token.Ref, &token.Load, to)
		g.watch.given, g.watch.hearing = true, expected
	}
	return out
}

// Overtaken must be called after the held token was discarded because a member offers a copy with a higher number.
func (g *Machine) Overtaken(now policy.Time, by wire.MemberID, higher *Token) {
	g.EndDoubt()
	if g.watch.turnsTo(higher.ID) {
		g.learn(now, &higher.Ref, &higher.Load, by)
	}
}

// onOvertaken handles the news of a copy of the held token with a higher number, which may no longer exist.
func (g *Machine) onOvertaken(now policy.Time, m *wire.Message, end *Outcome) {
	g.cfg.Marks.Hit(markOvertaken)
	holder := wire.MemberID{}
	if m.Kind == KindHeartbeat {
		holder = m.From
	}
	if m.Kind == KindTombstone {
		g.cfg.Marks.Hit(markOvertakenByTombstone)
		g.remember(&m.Token)
	}
	higher := TokenOf(m)
	g.Overtaken(now, holder, &higher)
	*end = Outcome{Ending: Overtaken, Peer: m.From, Token: higher}
}

// Correct tells the guardians of a discarded copy about the higher copy; otherwise they would revive the discarded one.
func (g *Machine) Correct(discarded *Token, higher *Token, out []policy.Effect) []policy.Effect {
	kind := KindKnown
	if g.KnowsTombstone(&higher.Ref) {
		g.cfg.Marks.Hit(markCorrectedTombstone)
		kind = KindTombstone
	}
	return g.tellGuardians(kind, discarded.Trail(), higher, out)
}

// overtakes reports whether a message about the held token shows that a copy with a higher number exists or existed. If
// two holders have the same number, which two guardians may choose by chance, the one with the lower identity yields. A
// removed copy also ends all copies that it had overtaken.
func (g *Machine) overtakes(m *wire.Message, held *Token) bool {
	if m.Kind == KindAsk {
		return false
	}
	if m.Token.Seq != held.Seq {
		return m.Token.Seq > held.Seq
	}
	g.cfg.Marks.Hit(markEqualNumbers)
	return m.Kind == KindTombstone || m.Kind == KindHeartbeat && m.From.Compare(g.cfg.Self) > 0
}
