package call

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// arrival is the announcement of a holder to its homes, which answer.
//
// R6 Arrival. "The new holder sends a Heartbeat with Exchange to each home, which answers Heard; repeated after P/8,
// 3P/8; after P/2 the next one replaces a silent home. A Heartbeat without Exchange releases the former holder and
// homes." A home that does not answer may be far away: the holder waits twice as long for the next one, and an answer
// of the former one counts.
type arrival struct {
	id wire.Exchange
	// silent are the homes that have not answered, by their places in the trail.
	silent uint8
	times  uint8
	// rounds counts the announcements in a row that nobody has answered. pauses is true while this member is silent
	// before the next one.
	rounds uint8
	pauses bool
	// began is when the first announcement with this identity was made, since when this one was.
	began, since policy.Time
	at           policy.Time
	// trip is the longest time until an answer. heard is true if a home has answered, heardAt when the last one did.
	trip    time.Duration
	heard   bool
	heardAt policy.Time
}

// wakesAt is when the announcement is repeated, or ends.
func (a *arrival) wakesAt() policy.Time {
	if a.id == 0 {
		return policy.Never
	}
	return a.at
}

// mostRounds bounds the doublings of the time for which a holder waits for its homes, mostPauses those of the pause
// between two announcements of one that waits for a word.
const (
	mostRounds = 5
	mostPauses = 2
)

// announce tells the homes that the token is here, and wants their answers.
func (m *Machine) announce(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.arrival = arrival{id: wire.Exchange(policy.Draw(m.cfg.Entropy)), began: now.Time}
	return m.announceAgain(now, out)
}

// announceAgain makes another announcement with the same identity.
func (m *Machine) announceAgain(now policy.Instant, out []policy.Effect) []policy.Effect {
	trail := m.custody.token.Trail()
	a := &m.arrival
	a.since, a.at = now.Time, now.Time.Add(m.cfg.patience()/8)
	a.times, a.pauses, a.silent = 0, false, uint8(1<<trail.Len()-1)
	if trail.Len() == 0 {
		a.id = 0
	}
	return m.guardian.Announce(now.Time, &m.custody.token, trail, a.id, out)
}

// homesWithin is how long the homes have for their answers: P/2, or two round trips where they are further away.
func (m *Machine) homesWithin() time.Duration {
	return max(m.cfg.patience()/2<<m.arrival.rounds, 2*m.trip)
}

// wakeArrival repeats the announcement to silent homes, and then replaces them.
func (m *Machine) wakeArrival(now policy.Instant, out []policy.Effect) []policy.Effect {
	a, p := &m.arrival, m.cfg.patience()
	if now.Time < a.wakesAt() {
		return out
	}
	trail := m.custody.token.Trail()
	switch a.times = min(a.times+1, 3); a.times {
	case 1:
		a.at = a.since.Add(3 * p / 8)
	case 2:
		a.at = a.since.Add(m.homesWithin())
	default:
		return m.replaceSilent(now, out)
	}
	m.cfg.Marks.Hit(markArrivalAgain)
	var silent guardian.Trail
	for left := a.silent; left != 0; left &= left - 1 {
		silent.Add(trail[bits.TrailingZeros8(left)])
	}
	return m.guardian.Announce(now.Time, &m.custody.token, silent, a.id, out)
}

// replaceSilent avoids the homes that have not answered, and announces the token to those in their place. A holder that
// waits for a word (R8) goes on asking; in longer intervals, so that its heartbeats do not calm those that suspect it.
func (m *Machine) replaceSilent(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.cfg.Marks.Hit(markHomesSilent)
	a, trail := &m.arrival, m.custody.token.Trail()
	for left := a.silent; left != 0; left &= left - 1 {
		home := trail[bits.TrailingZeros8(left)]
		m.avoid(now.Time, home)
		m.view.setSilent(home, true)
	}
	if m.custody.in(asking) && a.rounds > 0 && !a.pauses {
		m.cfg.Marks.Hit(markArrivalPauses)
		a.pauses, a.at = true, now.Time.Add(policy.Times(1<<min(a.rounds, mostPauses), m.cfg.patience()))
		return out
	}
	if a.rounds == mostRounds && !m.custody.in(asking) {
		m.cfg.Marks.Hit(markArrivalEnds)
		a.id = 0
		return out
	}
	a.rounds = min(a.rounds+1, mostRounds)
	before, t := trail, m.view.trail(&m.cfg, now.Time)
	if m.view.areSilent(t) { // Any other member will do, rather than those that call, and hear nothing.
		m.cfg.Marks.Hit(markAnotherHome)
		t = m.view.another(&m.cfg)
	}
	if t != before {
		out = m.setHomes(t, out)
	}
	if t == before && a.heard && !m.custody.in(asking) {
		m.cfg.Marks.Hit(markNoOtherHome)
		a.id = 0 // There is no other home.
		return out
	}
	return m.announceAgain(now, out)
}

// unheard reports whether this holder waits for a word (R8), and no home has answered several announcements. It may be
// deaf: then it can neither run nor pass the token on, so its heartbeats must not keep others from doing so.
func (m *Machine) unheard() bool {
	return m.custody.in(asking) && m.arrival.rounds > mostPauses && !m.arrival.heard
}

// avoid remembers that a member did not answer.
func (m *Machine) avoid(now policy.Time, id wire.MemberID) {
	const patiences = 16
	m.view.avoid.Add(id, now.Add(policy.Times(patiences, m.cfg.patience())))
}

// onHeard handles the answer of a home to an announcement.
func (m *Machine) onHeard(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	a, trail := &m.arrival, m.custody.token.Trail()
	rank, ok := trail.Rank(msg.From)
	switch {
	case ok:
		a.silent &^= 1 << rank
		a.trip = max(a.trip, now.Time.Sub(a.since))
	case m.view.mayBeHome(msg.From): // It was one, and is late.
		m.cfg.Marks.Hit(markHeardLate)
		a.trip = max(a.trip, now.Time.Sub(a.began))
	default:
		return out
	}
	m.view.setSilent(msg.From, false)
	a.heard, a.heardAt, m.trip = true, now.Time, max(m.trip, a.trip)
	if a.silent == 0 {
		a.id, m.trip = 0, a.trip // All have answered, so it is not more.
	}
	setTrip(&m.custody.token.Load, m.trip)
	if m.custody.in(asking) {
		m.cfg.Marks.Hit(markHeardAsking)
		return m.next(now, true, out)
	}
	return out
}

// chooseHomes chooses the homes again, and announces the token if they differ.
func (m *Machine) chooseHomes(now policy.Instant, out []policy.Effect) []policy.Effect {
	before, t := m.custody.token.Trail(), m.view.trail(&m.cfg, now.Time)
	if t == before || m.custody.in(offering) {
		return out
	}
	m.cfg.Marks.Hit(markHomesChanged)
	return m.announce(now, m.setHomes(t, out))
}

// setHomes gives the held token other homes, and tells those that are none any more.
func (m *Machine) setHomes(t guardian.Trail, out []policy.Effect) []policy.Effect {
	before := m.custody.token.Trail()
	m.custody.token.SetTrail(&t)
	out = m.release(before, m.preSign(out))
	if m.custody.keeps() {
		out = m.save(out)
	}
	return out
}

// release tells those that were guardians, and are none any more.
func (m *Machine) release(before guardian.Trail, out []policy.Effect) []policy.Effect {
	trail := m.custody.token.Trail()
	for _, id := range before[:before.Len()] {
		if id != m.cfg.Self && !trail.Has(id) {
			m.cfg.Marks.Hit(markHomeReleased)
			out = m.guardian.Greet(id, &m.custody.token, out)
		}
	}
	return out
}

// onArrived handles a token whose handoff ended here.
func (m *Machine) onArrived(now policy.Instant, end *handoff.Outcome, out []policy.Effect) []policy.Effect {
	token := guardian.Token{Ref: end.Token, Load: end.Load}
	m.view.avoid.Forgive(end.Peer)
	m.noteTook(now.Time, end.Peer, &end.Token)
	if m.trip == 0 {
		m.trip = end.Took
	}
	offered := token.Seq
	seq, latest := m.latest(token.ID)
	if last := &m.custody.token; seq > token.Seq || last.ID == token.ID && last.Seq == token.Seq {
		m.cfg.Marks.Hit(markArrivedOutdated)
		return m.discardOutdated(now, end.Peer, &token, latest, out)
	}
	token.Seq = m.numbers.Arrived(token.Seq)
	out = policy.AppendTell(out, NoteArrived, end.Peer, &token.Ref)
	if m.custody.holds() {
		m.cfg.Marks.Hit(markArrivedBeside)
		return m.onMeeting(now, policy.CauseReceived, end.Peer, &token, out)
	}
	c := &m.caller
	hasWord := c.waits() && c.word.ID == token.ID && c.word.Seq == offered && now.Time < c.wordAt.Add(m.cfg.patience())
	return m.take(now, policy.CauseReceived, end.Peer, &token, hasWord, out)
}

// take makes this member the holder of a token, announces that, and uses the token. hasWord is true if a home has
// vouched for it lately.
func (m *Machine) take(
	now policy.Instant, how policy.Cause, from wire.MemberID, token *guardian.Token, hasWord bool, out []policy.Effect,
) []policy.Effect {
	out = policy.AppendTook(out, how, from, &token.Ref)
	c := &m.custody
	c.holding, c.token = true, *token
	m.queue.turns.last, m.view.silent = false, 0
	m.birth.met(now.Time)
	m.search.stop()
	before := token.Trail()
	trail := m.view.trail(&m.cfg, now.Time)
	c.token.SetTrail(&trail)
	setServed(&c.token.Load, m.serveOf())
	setTrip(&c.token.Load, m.trip)
	if m.guardian.Took(now.Time, &c.token) {
		out = policy.AppendTell(out, guardian.NoteUnused, from, &token.Ref)
	}
	m.queue.serve(m.serveOf())
	m.queue.remove(m.cfg.Self)
	m.known.witness(now.Time, &c.token.Ref, m.cfg.Self)
	out = m.announce(now, out)
	out = m.release(before, out)
	if c.in(running) {
		m.cfg.Marks.Hit(markTookRunning)
		return m.preSign(out)
	}
	c.become(resting)
	if !c.leaving && m.wants(now.Time) && m.caller.waits() && now.Time >= m.unusedUntil() {
		// R7: "A member that waits when the token arrives runs, whoever else waits: comparing ages, two members with an
		// old wait of each other passed it for ever."
		return m.ask(now, hasWord, out)
	}
	return m.next(now, false, out)
}

// discard takes a token that arrives and gives it up at once.
func discard(how, why policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect) []policy.Effect {
	out = policy.AppendTook(out, how, from, &token.Ref)
	return policy.AppendGave(out, why, wire.MemberID{}, &token.Ref)
}

// discardOutdated drops an arriving copy that another copy has overtaken.
func (m *Machine) discardOutdated(
	now policy.Instant, from wire.MemberID, t, latest *guardian.Token, out []policy.Effect,
) []policy.Effect {
	out = policy.AppendTell(out, NoteOutdated, from, &t.Ref)
	out = discard(policy.CauseReceived, policy.CauseOvertaken, from, t, out)
	m.caller.renew(&m.cfg, now.Time)
	if latest != nil {
		out = m.guardian.Correct(t, latest, out)
	}
	return out
}

// onMeeting handles a token that comes while this member holds another. The older one survives; of two copies of one
// token, the one with the higher number. A run goes on.
func (m *Machine) onMeeting(
	now policy.Instant, how policy.Cause, from wire.MemberID, token *guardian.Token, out []policy.Effect,
) []policy.Effect {
	met := m.custody.token
	if token.ID != met.ID && !token.ID.Precedes(met.ID) {
		m.cfg.Marks.Hit(markMetYounger)
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &token.Ref)
		out = discard(how, policy.CauseMet, from, token, out)
		return m.guardian.Tombstone(token, out)
	}
	m.handoff.Withdraw()
	out = m.retract(out)
	m.custody.holding = false
	out = m.loseKept(out)
	if token.ID == met.ID {
		m.cfg.Marks.Hit(markMetCopy)
		out = policy.AppendTell(out, NoteOutdated, wire.MemberID{}, &met.Ref)
		out = policy.AppendGave(out, policy.CauseOvertaken, wire.MemberID{}, &met.Ref)
		out = m.guardian.Correct(&met, token, out)
	} else {
		m.cfg.Marks.Hit(markMetOlder)
		out = policy.AppendTell(out, NoteMet, wire.MemberID{}, &met.Ref)
		out = policy.AppendGave(out, policy.CauseMet, wire.MemberID{}, &met.Ref)
		out = m.guardian.Tombstone(&met, out)
		m.known.lose()
	}
	return m.take(now, how, from, token, false, out)
}

// word reports whether a home has answered this visit's announcement within P.
func (m *Machine) word(now policy.Time) bool {
	a := &m.arrival
	return a.heard && now < a.heardAt.Add(m.cfg.patience())
}
