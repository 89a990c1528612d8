package call

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// known is where the token is, as far as this member has heard.
type known struct {
	// ref is the token with the highest number that this member has heard of. lost is true if it may not exist.
	ref    wire.Ref
	lost   bool
	holder wire.MemberID
	// floor is the highest number of that token that this member has had, or has heard from its holder: others may be
	// wrong.
	floor wire.Seq
	// since is when this member heard that first, at when it did last.
	since, at policy.Time
}

// witness takes what this member knows itself, or a holder says of itself. That counts for more than what others say of
// that token: otherwise one lie about its number would hide it for as long as it lives.
func (k *known) witness(now policy.Time, ref *wire.Ref, holder wire.MemberID) bool {
	if ref.ID == k.ref.ID && ref.Seq >= k.floor {
		k.ref.Seq = min(k.ref.Seq, ref.Seq)
	}
	if !k.learn(now, ref, holder) {
		return false
	}
	k.floor = max(k.floor, ref.Seq)
	return true
}

// learn takes what another member says. An older token counts for more, unless it is lost; a lower number for nothing:
// "a guardian never takes a lower number" (R12).
func (k *known) learn(now policy.Time, ref *wire.Ref, holder wire.MemberID) bool {
	switch {
	case ref.Seq == 0:
		return false
	case ref.ID == k.ref.ID:
		if ref.Seq < k.ref.Seq || ref.Seq == k.ref.Seq && holder.IsZero() {
			return false
		}
	case !k.ref.ID.Generator.IsZero() && !k.lost && !ref.ID.Precedes(k.ref.ID):
		return false
	}
	if *ref != k.ref || holder != k.holder {
		k.since = now
	}
	if ref.ID != k.ref.ID {
		k.floor = 0
	}
	k.ref, k.lost, k.holder, k.at = *ref, holder.IsZero(), holder, now
	return true
}

// hear takes what a message says about where the token is.
func (m *Machine) hear(now policy.Time, msg *wire.Message, holder wire.MemberID) bool {
	if holder == msg.From {
		return m.known.witness(now, &msg.Token, holder)
	}
	return m.known.learn(now, &msg.Token, holder)
}

// lose records that the token is not where this member thought.
func (k *known) lose() { k.lost, k.holder = true, wire.MemberID{} }

// The purposes of a Next: its nonce.
const (
	// nextHolder tells the holder of waiters, nextHome another home.
	nextHolder = iota
	nextHome
	// nextUnanswered names a wait that did not answer an offer, nextOver one that is over.
	nextUnanswered
	nextOver
	// nextAfter is sent after the token: the wait of a home that has told a former holder of it.
	nextAfter
)

// pause is how long a waiter may be silent: "max(8 skip, waiters × skip)" (R3).
func (m *Machine) pause() time.Duration {
	return policy.Times(max(leastPauses, m.queue.len()), m.cfg.Skip)
}

// enqueue adds a waiter.
func (m *Machine) enqueue(now policy.Time, w waiter) {
	if m.queue.len() == 0 {
		m.queue.sweepAt = now.Add(m.pause())
	}
	m.queue.add(w)
}

// queues reports whether this member keeps waiters: it is a home, or holds or guards the token.
func (m *Machine) queues() bool {
	return m.custody.holds() || m.guards() || m.view.isHome(&m.cfg, m.cfg.Self)
}

// onCall queues a caller, or says where the token is.
//
// R3 Queued. "A home, or the holder, answers at once: the token and number as it knows them, and a pause […]. Anybody
// else names the holder and first home that it knows."
func (m *Machine) onCall(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if msg.Nonce == 0 {
		return m.callOff(now, msg.From, waitOf(msg.Exchange), out)
	}
	if !m.queues() || m.custody.leaving {
		m.cfg.Marks.Hit(markCallElsewhere)
		return m.sayWhere(msg, out)
	}
	if msg.From == m.known.holder && !m.guards() {
		m.cfg.Marks.Hit(markCallByHolder)
		m.known.lose() // Who calls has no token (R2). If nobody else waits, nothing that it is told shows that.
	}
	w := waiter{
		id: msg.From, wait: waitOf(msg.Exchange), since: now.Time.Add(-time.Duration(msg.Nonce)), called: now.Time,
	}
	if m.known.holder == msg.From && m.queue.callsAgain(msg, now.Time.Add(-m.cfg.patience()/2)) {
		m.cfg.Marks.Hit(markCallByHolderAgain)
		m.known.lose() // It waits, so it does not have the token.
	}
	m.enqueue(now.Time, w)
	holder, ref := m.whereabouts()
	out = m.send(KindQueued, msg.From, msg.Exchange, wire.Nonce(m.pause()), &ref, out)
	load, held := &out[len(out)-1].Msg.Load, time.Duration(0)
	if !holder.IsZero() {
		held = now.Time.Sub(m.known.since)
	}
	setPlaces(load, holder, m.cfg.Self)
	setTurn(load, m.before(&w, holder), held)
	return out
}

// callOff forgets a wait that is over, because its caller has gone or another token has served it. A holder, or a next
// home, that has been told of it is told that too; otherwise the token would go there in vain. A former holder that is
// no home does not know what the next one has heard, and sends the word after the token; so does a home that has sent
// this very wait after it.
func (m *Machine) callOff(now policy.Instant, id wire.MemberID, wait waitID, out []policy.Effect) []policy.Effect {
	if i := m.queue.find(id); i >= 0 && m.queue.list[i].wait == wait {
		w := &m.queue.list[i]
		to, ref := m.toldTo()
		if !to.IsZero() && to != m.cfg.Self && to != id && w.visit == ref.Seq {
			m.cfg.Marks.Hit(markOverTold)
			about := wire.Exchange(policy.Draw(m.cfg.Entropy))
			out = m.send(KindNext, to, about, nextOver, &ref, out)
			setTold(&out[len(out)-1].Msg.Load, 0, told{id.Hint(), now.Time.Sub(w.since), wait})
		}
	}
	over := told{hint: id.Hint(), wait: wait}
	sentOn := slices.Contains(m.queue.sentOn[:], served{over.hint, wait})
	former := !m.custody.holds() && (sentOn || !m.view.isHome(&m.cfg, m.cfg.Self))
	if m.queue.serve(served{over.hint, wait}) && id != m.cfg.Self && former {
		m.cfg.Marks.Hit(markOverAfter)
		out = m.sendAfter(id, wire.Exchange(policy.Draw(m.cfg.Entropy)), &over, nextOver, out)
	}
	return out
}

// toldTo is whom this member tells of waiters, and during which visit of the token: the holder, or the next home while
// this member is the holder.
func (m *Machine) toldTo() (to wire.MemberID, visit wire.Ref) {
	if m.custody.holds() {
		return m.custody.token.Trail()[0], m.custody.token.Ref
	}
	return m.known.holder, m.known.ref
}

// whereabouts are the holder and the token as this member knows them. If it does not know the holder, it vouches for no
// number.
func (m *Machine) whereabouts() (holder wire.MemberID, ref wire.Ref) {
	switch {
	case m.custody.holds():
		return m.cfg.Self, m.custody.token.Ref
	case m.known.lost || m.known.holder.IsZero():
		return wire.MemberID{}, wire.Ref{}
	}
	return m.known.holder, m.known.ref
}

// sayWhere answers a Call, a Next or a Seek.
func (m *Machine) sayWhere(msg *wire.Message, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markWhere)
	holder, ref := m.whereabouts()
	out = m.send(KindWhere, msg.From, msg.Exchange, 0, &ref, out)
	setPlaces(&out[len(out)-1].Msg.Load, holder, m.view.firstHome())
	return out
}

// onNext handles the waiters of a home.
//
// R4: "A holder answers a Next with an older number by a Heartbeat, and does not read it. Who does not hold the token
// answers Known, naming the receiver if it passed it on." Here the answer is a Where. "Of a Next with an older number
// only the sender's own wait counts": a distant home hears of each visit too late, and would wait for ever. Who has
// passed the token on sends that wait after it; and so the word that a wait is over.
func (m *Machine) onNext(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	older := false
	switch {
	case msg.Nonce == nextUnanswered && (m.custody.holds() || msg.From != m.known.holder):
		m.cfg.Marks.Hit(markNextUnbelieved)
		return out // Only the holder can know; a home that says so lies, or is late.
	case msg.Nonce == nextUnanswered, msg.Nonce == nextOver:
		m.cfg.Marks.Hit(markNextOver)
		for i := range mostTold {
			t := toldOf(&msg.Load, i)
			if over := (served{t.hint, t.wait}); msg.Nonce == nextOver {
				// A Next that lists it may come later. What comes again is not sent on: members may be wrong.
				if m.queue.serve(over) && !m.custody.holds() {
					out = m.sendAfter(msg.From, msg.Exchange, &t, nextOver, out)
				}
			} else {
				m.queue.forget(over)
				m.queue.turns.note(t.hint)
			}
		}
		return out
	case msg.Nonce == nextHolder && !m.custody.holds():
		m.cfg.Marks.Hit(markNextNotHere)
		return m.sayWhere(msg, m.sendOwn(msg, out))
	case msg.Nonce == nextAfter && !m.custody.holds():
		m.cfg.Marks.Hit(markNextAfterNotHere)
		return out // It comes again, if it still waits.
	case msg.Nonce == nextHolder:
		older = msg.Token.ID != m.custody.token.ID || msg.Token.Seq < m.custody.token.Seq
	case msg.Nonce == nextHome:
		m.known.learn(now.Time, &msg.Token, wire.MemberID{})
	}
	for i := range mostTold {
		t := toldOf(&msg.Load, i)
		id, ok := m.view.ByHint(t.hint)
		if t.wait == 0 || !ok || id == m.cfg.Self || m.queue.isDone(id, t.wait) || older && id != msg.From ||
			m.queue.isVain(served{t.hint, t.wait}, now.Time) {
			continue
		}
		m.enqueue(now.Time, waiter{
			id: id, wait: t.wait, since: now.Time.Add(-t.age), called: now.Time,
			told: msg.Nonce == nextHolder || msg.Nonce == nextAfter, vouched: true,
		})
	}
	if older || msg.Nonce == nextHolder && !m.custody.in(resting) {
		// It is busy: the home must not suspect it; or the home does not know of this visit.
		m.cfg.Marks.Hit(markNextOlder)
		out = m.guardian.Greet(msg.From, &m.custody.token, out)
	}
	return out
}

// sendOwn tells the holder of the wait of the home that sent a Next, if that came after the token had gone and before
// the wait was called off.
func (m *Machine) sendOwn(msg *wire.Message, out []policy.Effect) []policy.Effect {
	for i := range mostTold {
		t := toldOf(&msg.Load, i)
		if t.wait != 0 && t.hint == msg.From.Hint() && !m.queue.isDone(msg.From, t.wait) {
			m.queue.sendsOn(served{t.hint, t.wait})
			return m.sendAfter(msg.From, msg.Exchange, &t, nextAfter, out)
		}
	}
	return out
}

// sendAfter sends what another member has told of a wait after the token, to its holder, if that is a third one.
func (m *Machine) sendAfter(
	from wire.MemberID, id wire.Exchange, t *told, purpose wire.Nonce, out []policy.Effect,
) []policy.Effect {
	holder, ref := m.whereabouts()
	if holder.IsZero() || holder == from || holder == m.cfg.Self {
		return out
	}
	m.cfg.Marks.Hit(markSentAfter)
	out = m.send(KindNext, holder, id, purpose, &ref, out)
	setTold(&out[len(out)-1].Msg.Load, 0, *t)
	return out
}

// forget removes a wait that did not answer an offer.
func (q *queue) forget(s served) {
	for i := range q.list {
		if w := &q.list[i]; w.id.Hint() == s.hint && w.wait == s.wait {
			q.remove(w.id)
			return
		}
	}
}

// tellNextHome tells the next home of the nine oldest waiters.
//
// R4: "While the first home runs, it tells the next one, which has heard of this visit, of its nine oldest waiters, and
// again if there are others." Otherwise nobody would know of them if it died, and nobody suspect it.
func (m *Machine) tellNextHome(now policy.Time, out []policy.Effect) []policy.Effect {
	trail, visit := m.custody.token.Trail(), m.custody.token.Seq
	first := m.custody.holds() && m.custody.in(running) && m.view.firstHome() == m.cfg.Self
	if !first || trail.Len() == 0 || m.arrival.silent&1 != 0 {
		return out
	}
	to := trail[0]
	chosen := m.queue.choose(to)
	if m.queue.isTold(&chosen, visit) {
		return out
	}
	m.cfg.Marks.Hit(markNextHomeTold)
	m.queue.mark(&chosen, visit)
	return m.sendChosen(now, nextHome, to, wire.Exchange(policy.Draw(m.cfg.Entropy)), &chosen, out)
}

// sendNext sends the oldest waiters.
func (m *Machine) sendNext(
	now policy.Time, purpose wire.Nonce, to wire.MemberID, id wire.Exchange, out []policy.Effect,
) []policy.Effect {
	chosen := m.queue.choose(to)
	return m.sendChosen(now, purpose, to, id, &chosen, out)
}

func (m *Machine) sendChosen(
	now policy.Time, purpose wire.Nonce, to wire.MemberID, id wire.Exchange, chosen *choice, out []policy.Effect,
) []policy.Effect {
	if chosen.n == 0 {
		return out
	}
	if purpose == nextHolder {
		m.queue.mark(chosen, m.known.ref.Seq)
	}
	var about *wire.Ref
	if m.known.ref.IsWhole() {
		about = &m.known.ref
	}
	out = m.send(KindNext, to, id, purpose, about, out)
	m.queue.tell(now, chosen, &out[len(out)-1].Msg.Load)
	return out
}

// sendWaiters sends the queue to another home, and forgets it. Waiters that do not fit call again by themselves.
func (m *Machine) sendWaiters(now policy.Time, to wire.MemberID, out []policy.Effect) []policy.Effect {
	const most = 8 * mostTold
	for n := 0; n < most && !to.IsZero() && to != m.cfg.Self; n += mostTold {
		chosen := m.queue.choose(to)
		if chosen.n == 0 {
			break
		}
		out = m.sendChosen(now, nextHome, to, wire.Exchange(policy.Draw(m.cfg.Entropy)), &chosen, out)
		m.queue.drop(&chosen)
	}
	m.queue.list = m.queue.list[:0]
	return out
}

// onWhere handles the answer of a member that does not queue, or does not hold the token, or was asked where it is.
func (m *Machine) onWhere(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	holder, home := placesOf(&msg.Load)
	names := holder == m.cfg.Self
	if names {
		// "A receiver ignores a Known that names itself": the token is on its way, and comes with a lower number.
		m.cfg.Marks.Hit(markWhereNamesSelf)
		holder = wire.MemberID{}
		if m.report.is(msg.Exchange) {
			m.report.denies(now.Time, msg.From)
			return out
		}
	}
	switch {
	case m.search.awaits(msg):
		return m.onFound(now, msg, holder, out)
	case m.report.is(msg.Exchange):
		if holder.IsZero() || holder == msg.From || !m.known.learn(now.Time, &msg.Token, holder) {
			if holder.IsZero() && msg.From == m.known.holder {
				m.cfg.Marks.Hit(markWhereDenies)
				m.notThere(now.Time)
			}
		}
		m.report.denies(now.Time, msg.From)
		return out
	}
	if !names {
		m.hear(now.Time, msg, holder)
	}
	if holder == home {
		holder = wire.MemberID{}
	}
	for _, id := range [...]wire.MemberID{home, holder} {
		c := &m.caller
		other := m.view.Has(id) && id != m.view.firstHome() && id != m.cfg.Self && id != msg.From
		if other && c.called && (c.step > toFirst || c.again > 0) && c.followed < mostFollowed {
			m.cfg.Marks.Hit(markWhereFollowed)
			c.followed++
			out = m.callOne(now, id, out)
		}
	}
	return out
}

// notThere records that the holder does not hold the token, and knows nothing of it. A guardian asks the others in P,
// as after a silence; another home looks for the token.
func (m *Machine) notThere(now policy.Time) {
	m.report.stop(&m.cfg, now)
	if !m.guards() {
		m.known.lose()
	}
}

// serveOf is what the held token says of the wait that its visit serves.
func (m *Machine) serveOf() served {
	if !m.caller.waits() {
		return served{}
	}
	return served{m.cfg.Self.Hint(), waitOf(m.caller.id)}
}

// latest is the highest number that this member has heard of for a token, and what it knows of that copy: nil if only
// the number.
func (m *Machine) latest(id wire.TokenID) (seq wire.Seq, copied *guardian.Token) {
	if t, ok := m.guardian.Latest(id); ok {
		seq, copied = t.Seq, t
	}
	if m.known.ref.ID == id && m.known.floor > seq {
		seq, copied = m.known.floor, nil
	}
	if t := &m.custody.token; t.ID == id && t.Seq > seq {
		seq, copied = t.Seq, t
	}
	return seq, copied
}
