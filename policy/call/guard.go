package call

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// line is a number without its hops. R12 Lines: "A number without its hops (epoch and tie: Seq >> 24) is a line; only a
// revival begins one."
func line(seq wire.Seq) wire.Seq { return seq >> 24 }

// isLater reports whether a message names the held token in a later line.
func (m *Machine) isLater(msg *wire.Message) bool {
	t := &m.custody.token
	return m.custody.holds() && msg.Token.ID == t.ID && line(msg.Token.Seq) > line(t.Seq)
}

// dropStale drops the held token. R12: "A holder that hears of its token in a later line drops it, instead of taking
// that number, and sends its waiters to" the member that says so.
func (m *Machine) dropStale(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markDroppedStale)
	held, ref := m.custody.token, msg.Token
	var higher *guardian.Token
	if msg.Kind == guardian.KindKnown {
		t := guardian.TokenOf(msg)
		higher = &t
	}
	out = m.onOvertaken(now, msg.From, higher, out)
	m.known.learn(now.Time, &ref, wire.MemberID{})
	m.known.ref.Seq = max(m.known.ref.Seq, held.Seq)
	return out
}

// refuses reports whether an offer, or a heartbeat, is one of a stale copy. R12: "An offer in an earlier line than one
// heard of is refused: 'one more than seen' would lift a stale copy above the live one."
func (m *Machine) refuses(msg *wire.Message) (latest *guardian.Token, stale bool) {
	seq, latest := m.latest(msg.Token.ID)
	return latest, line(msg.Token.Seq) < line(seq)
}

// refuse tells the sender of a stale copy of the one that this member knows, or of its number. If that number is a lie,
// no copy has it, and the token is revived with a higher one.
func (m *Machine) refuse(offer *wire.Message, latest *guardian.Token, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteOutdated, offer.From, &offer.Token)
	m.cfg.Marks.Hit(markRefusedByNumber)
	known := guardian.TokenOf(offer)
	if known.Seq = m.known.floor; latest != nil {
		known = *latest
	}
	out = m.send(guardian.KindKnown, offer.From, 0, 0, &known.Ref, out)
	out[len(out)-1].Msg.Load = known.Load
	return out
}

// guards reports whether this member guards a token.
func (m *Machine) guards() bool {
	_, guards := m.guardian.Keeps()
	return guards
}

// guardsOlder reports whether this member guards a token that precedes another.
func (m *Machine) guardsOlder(id wire.TokenID) bool {
	t, _ := m.guardian.Last()
	return m.guards() && t.ID.Precedes(id)
}

// expectsGuarding reports whether a message of a holder or guardian is news.
func (m *Machine) expectsGuarding(msg *wire.Message) bool {
	held := m.custody.held()
	switch {
	case m.isLater(msg):
		return true
	case msg.Kind == guardian.KindHeard && held != nil && msg.Exchange == m.arrival.id && m.arrival.id != 0:
		return true
	case msg.Kind == guardian.KindHeartbeat && held != nil && held.ID != msg.Token.ID:
		return true
	case msg.Kind == guardian.KindHeartbeat && held == nil && (m.guardsOlder(msg.Token.ID) || m.queue.len() > 0):
		return true
	}
	return m.guardian.Expects(msg, held)
}

// onGuarding handles a message of a holder or guardian.
func (m *Machine) onGuarding(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	out = m.numbers.Witness(now, msg, out)
	m.guardian.Measured(m.cfg.tripOf(&msg.Load))
	held := m.custody.held()
	switch {
	case msg.Kind == guardian.KindHeard && held != nil && msg.Exchange == m.arrival.id && m.arrival.id != 0:
		return m.onHeard(now, msg, out)
	case msg.Kind == guardian.KindHeartbeat && (held == nil || held.ID != msg.Token.ID):
		return m.onHeartbeat(now, msg, out)
	case msg.Kind == guardian.KindAsk:
		out = m.handoff.Refuse(msg, out)
		m.rise(msg)
	}
	var verdict guardian.Outcome
	out = m.guardian.Receive(now.Time, msg, held, &verdict, out)
	switch {
	case msg.Kind == guardian.KindKept:
		return m.goOnKept(now, out)
	case msg.Token.ID != m.known.ref.ID || m.custody.holds():
	case msg.Kind == guardian.KindTombstone && msg.Token.Seq >= m.known.ref.Seq:
		m.known.lose()
	case msg.Kind == guardian.KindKnown, msg.Kind == guardian.KindHeard:
		m.known.learn(now.Time, &msg.Token, wire.MemberID{})
	}
	return m.onVerdict(now, &verdict, out)
}

// rise gives the held token the number of a question in the same line: the asker has heard of it with that number.
func (m *Machine) rise(ask *wire.Message) {
	t := &m.custody.token
	fixed := m.custody.in(offering) || m.custody.in(saving) || m.custody.kept
	if m.custody.holds() && !fixed && t.ID == ask.Token.ID {
		m.cfg.Marks.Hit(markRose)
		t.Seq = max(t.Seq, ask.Token.Seq)
	}
}

// onHeartbeat handles the heartbeat of another holder, of another token if this member holds one.
//
// R13 Two tokens "meet at the homes. A home that guards the older one answers the younger's Heartbeat with a tombstone,
// and turns from a younger to an older one."
//
// A member that has heard a later number from a holder, and knows no copy with it, says so, as it does when it is
// offered the token: if that was a lie, nobody who knows it would vouch for the token again.
func (m *Machine) onHeartbeat(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	switch held := m.custody.held(); {
	case held != nil && held.ID.Precedes(msg.Token.ID),
		held == nil && m.guardsOlder(msg.Token.ID) && !m.guardian.Meets(msg):
		m.cfg.Marks.Hit(markDismissed)
		return m.guardian.Dismiss(msg, out)
	case held != nil:
		m.cfg.Marks.Hit(markGreetedOlder)
		return m.guardian.Greet(msg.From, held, out)
	}
	if latest, stale := m.refuses(msg); stale && latest == nil {
		m.cfg.Marks.Hit(markHeartbeatStale)
		return m.refuse(msg, latest, out)
	}
	answers := m.guardian.Meets(msg) || m.guardian.Answers(msg)
	var verdict guardian.Outcome
	if m.guardian.Expects(msg, nil) {
		out = m.guardian.Receive(now.Time, msg, nil, &verdict, out)
	}
	out = m.onVerdict(now, &verdict, out)
	if m.custody.holds() {
		return out
	}
	if t, _ := m.guardian.Last(); t.ID == msg.Token.ID || !m.guards() {
		if m.known.ref.ID != msg.Token.ID {
			m.cfg.Marks.Hit(markHeartbeatReplaces)
			m.known.lose() // A holder knows better than what others have said.
		}
	}
	m.known.witness(now.Time, &msg.Token, msg.From)
	if m.known.ref.ID != msg.Token.ID || m.known.ref.Seq != msg.Token.Seq {
		m.cfg.Marks.Hit(markHeartbeatUnbelieved)
		return out
	}
	m.birth.met(now.Time)
	m.search.stop()
	m.queue.serve(servedOf(&msg.Load))
	m.queue.turns.forget(msg.From.Hint())
	if m.noteTook(now.Time, msg.From, &msg.Token) {
		m.cfg.Marks.Hit(markHeartbeatTook)
	}
	if i := m.queue.find(msg.From); i >= 0 && m.queue.list[i].called <= m.known.since {
		m.cfg.Marks.Hit(markHeartbeatOfWaiter)
		m.queue.remove(msg.From) // It has the token now, whether or not it waits.
	}
	m.report.heard(&m.cfg, now.Time, msg)
	trail := guardian.TrailOf(&msg.Load)
	if msg.Exchange != 0 && !answers && trail.Has(m.cfg.Self) {
		out = m.send(guardian.KindHeard, msg.From, msg.Exchange, 1, &msg.Token, out)
		out[len(out)-1].Msg.Load = msg.Load
	}
	return out
}

// heard notes that the holder lives. A regular heartbeat says that it knows of waiters; any other does not, and the
// waiters are told again, P/2 after the first time at the earliest.
func (t *report) heard(cfg *Config, now policy.Time, msg *wire.Message) {
	if t.id == 0 || t.holder != msg.From || t.visit != msg.Token.Seq {
		return
	}
	switch t.greeted = true; {
	case msg.Exchange == 0:
		t.stop(cfg, now)
	case t.times > 1:
		t.again(cfg, now)
	}
	t.tooEarly(now)
}

func (m *Machine) onVerdict(now policy.Instant, v *guardian.Outcome, out []policy.Effect) []policy.Effect {
	switch v.Ending {
	case guardian.Revived:
		if v.Kept {
			m.cfg.Marks.Hit(markStayedAway)
			out = policy.AppendTell(out, policy.NoteStayedAway, v.Peer, &v.Token.Ref)
		}
		return m.onRevived(now, v.Peer, &v.Token, out)
	case guardian.Overtaken:
		return m.onOvertaken(now, v.Peer, &v.Token, out)
	case guardian.Pending, guardian.Sure, guardian.Answered:
	}
	return out
}

// onRevived makes this member, a guardian, the holder of its token, because no holder was found.
func (m *Machine) onRevived(
	now policy.Instant, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	m.cfg.Marks.Hit(markRevivedHere)
	if !from.IsZero() {
		m.avoid(now.Time, from)
	}
	token.Seq = m.numbers.Revived(token.Seq, m.cfg.Entropy)
	setServed(&token.Load, served{})
	m.handoff.Forget(token.ID)
	out = m.save(policy.AppendTell(out, NoteRevived, from, &token.Ref))
	if m.custody.holds() {
		m.cfg.Marks.Hit(markRevivedBeside)
		return m.onMeeting(now, policy.CauseRevived, from, token, out)
	}
	return m.take(now, policy.CauseRevived, from, token, false, out)
}

// onOvertaken drops the held token: another member knows of a copy with a higher number, or of an older token.
func (m *Machine) onOvertaken(
	now policy.Instant, from wire.MemberID, higher *guardian.Token, out []policy.Effect,
) []policy.Effect {
	held := m.custody.token
	m.cfg.Marks.Hit(markOvertakenHere)
	out = policy.AppendTell(out, NoteOvertaken, from, &held.Ref)
	if higher != nil {
		out = m.guardian.Correct(&held, higher, out)
	}
	if m.queue.len() > 0 {
		m.cfg.Marks.Hit(markWaitersToOvertaker)
		out = m.sendNext(now.Time, nextHome, from, wire.Exchange(policy.Draw(m.cfg.Entropy)), out)
	}
	m.known.lose()
	return m.giveUp(now.Time, policy.CauseOvertaken, out)
}

// onSuspended goes on after a sleep: what was under way with others is over, and a run needs a word again. A holder
// that runs asks its homes whether the token has another holder meanwhile.
func (m *Machine) onSuspended(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markSuspended)
	out = m.handoff.Abandon(out)
	m.schedule.Disturb()
	out = m.retract(out)
	m.arrival.heard = false
	switch {
	case m.custody.in(offering), m.custody.in(saving):
		m.cfg.Marks.Hit(markSuspendedBusy)
		return m.rest(now, out)
	case m.custody.in(running) && m.custody.holds():
		m.cfg.Marks.Hit(markSuspendedRunning)
		return m.announce(now, out)
	}
	return out
}

// onLeave begins a graceful stop: it ends a run, passes the token and its waiters on, and accepts no other token.
func (m *Machine) onLeave(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.custody.leaving {
		return out
	}
	if m.caller.waits() && m.caller.called {
		out = m.withdraw(out)
	}
	m.caller.end()
	m.queue.remove(m.cfg.Self)
	m.custody.leaving = true
	m.search.stop()
	m.handoff.Close()
	m.guardian.Close()
	switch {
	case m.custody.in(running):
		m.cfg.Marks.Hit(markLeaveRunning)
		return m.schedule.Stop(out)
	case m.custody.in(saving):
		m.cfg.Marks.Hit(markLeaveSaving)
		out = m.retract(out)
	case m.custody.in(absent) && m.queue.len() > 0:
		m.cfg.Marks.Hit(markLeaveQueue)
		for rank := range m.view.found {
			if id, _ := m.view.home(rank); id != m.cfg.Self {
				return m.sendWaiters(now.Time, id, out)
			}
		}
	}
	return out
}

// leaveIfDone ends a graceful stop when no partner needs this member any longer.
func (m *Machine) leaveIfDone(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.leaving || !m.custody.in(absent) {
		return out
	}
	if at, ok := m.handoff.QuietAt(); !ok || now.Time < at {
		return out
	}
	m.custody.become(gone)
	out = policy.AppendTell(out, NoteLeft, wire.MemberID{}, nil)
	return append(out, policy.Effect{Kind: policy.Gone})
}
