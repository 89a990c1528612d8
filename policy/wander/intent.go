package wander

import (
	"math"
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Whoever offers a token is believed, and a member may offer what it does not hold. Two tokens are one too many also after a partition. So with
// ask_before_run a member that is due first tells all others, and one that runs objects. This is the mutual exclusion of Ricart and Agrawala for the short
// time before a run, with two differences: only a member with a token may ask, and of two that ask, the one with the older token goes first.
//
//	holder                      another member
//	  ── Intent(h) ─────────────▶  does it run, or is it about to, under a token that goes first?
//	    ◀──────────── Consent(h) ──  no
//	runs
//
// Of two members with tokens, one is asked after it has begun to ask itself, so it objects or gives way. Two run at once only if the answers of one do not
// arrive within half a patience. Nobody waits longer than that: a member that cannot be reached has no veto. An objection costs one visit of the token: it
// rests for skip and is passed on.
//
// A member that lies may object, too. So the objections of one member count for about as long as an operation takes, and then not until it may have
// run again: see objectors. In a fleet of more than [guardian.MostAsked] members nobody asks.

// intent is the question of a member that is about to run.
type intent struct {
	id wire.Exchange
	// silent are the places in the view of those that have not answered and are waited for.
	silent uint64
}

// mostRepeats is how often a question is repeated at most: of ten million questions one is lost where one message in fifty is.
const mostRepeats = 4

// asksFirst reports whether this member tells the others before it runs.
func (m *Machine) asksFirst() bool {
	return m.cfg.AskBeforeRun && !m.walk.alone() && len(m.walk.ids) <= guardian.MostAsked
}

// answersWithin is how long a member waits for answers, here and before it makes a token.
func (c *Config) answersWithin(roundTrip time.Duration) time.Duration {
	return max(c.timeout()/2, roundTrip*3/2)
}

// becomeAsking asks the other members whether one of them runs. It waits for those, too, that have failed a handoff lately: a member that lies can make them
// look so.
func (m *Machine) becomeAsking(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.become(asking)
	m.restUntil = now.Time.Add(m.cfg.answersWithin(m.handoff.RoundTrip()))
	m.asked, m.asksAgain = 1, false
	q := &m.intent
	*q = intent{id: wire.Exchange(policy.Draw(m.cfg.Entropy))}
	for place, id := range m.walk.ids {
		if place == m.walk.rank {
			continue
		}
		q.silent |= 1 << place
		out = m.sendIntent(id, out)
	}
	return out
}

func (m *Machine) sendIntent(to wire.MemberID, out []policy.Effect) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To = m.cfg.Gate, KindIntent, m.cfg.Self, to
	msg.Exchange, msg.Token, msg.Load = m.intent.id, m.token.Ref, m.token.Load
	return out
}

// wakeIntent repeats the question, and concludes at its end: who has not answered has no say. A member that was away while an objection may have
// come asks once more.
func (m *Machine) wakeIntent(now policy.Instant, out []policy.Effect) []policy.Effect {
	switch {
	case now.Time >= m.restUntil.Add(m.cfg.answersWithin(m.handoff.RoundTrip())/timesAsked) && !m.asksAgain:
		out = m.serve(now, out)
		m.asksAgain = true
	case now.Time >= m.restUntil:
		return m.unopposed(now, out)
	case now.Time >= m.asksAt():
		for m.asked <= mostRepeats && now.Time >= m.asksAt() {
			m.asked++
		}
		for left := m.intent.silent; left != 0; left &= left - 1 {
			out = m.sendIntent(m.walk.ids[bits.TrailingZeros64(left)], out)
		}
	}
	return out
}

// asksAt is when the question is repeated: after a sixteenth of half a patience, and after twice the time with each repetition. In a slow network the
// repetitions begin later: they are counted from the end of the question.
func (m *Machine) asksAt() policy.Time {
	if m.asked > mostRepeats {
		return m.restUntil
	}
	part := m.cfg.timeout() / 2 >> mostRepeats
	return m.restUntil.Add(-policy.Times(1<<mostRepeats-(1<<m.asked-1), part))
}

// changeAsked goes on with the question in another view: nobody waits for a member that has gone, and one that comes is not asked.
func (m *Machine) changeAsked(now policy.Time, before *peers) {
	if m.state != asking {
		return
	}
	var silent uint64
	for left := m.intent.silent; left != 0; left &= left - 1 {
		if place, ok := m.walk.place(before.ids[bits.TrailingZeros64(left)]); ok && place < guardian.MostAsked {
			silent |= 1 << place
		}
	}
	if m.intent.silent = silent; silent == 0 {
		m.restUntil = min(m.restUntil, now)
	}
}

// replies reports whether msg answers the open question.
func (m *Machine) replies(msg *wire.Message) bool {
	answer := msg.Kind == KindConsent || msg.Kind == KindObjection
	return answer && m.state == asking && msg.Exchange == m.intent.id && msg.Token.ID == m.token.ID && m.walk.has(msg.From)
}

// onIntent answers with one message. A member that asks, too, and goes after the other one, does not run this time: others may have consented
// to the other one already.
func (m *Machine) onIntent(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	goesAfter := m.state == asking && !m.goesBefore(msg)
	givesWay := goesAfter && m.mayObject(now.Time, msg.From)
	kind := KindConsent
	if m.state == running || m.granting() || m.state == asking && !givesWay {
		kind = KindObjection
	}
	out, answer := policy.AppendMessage(out)
	*answer = *msg
	answer.Kind, answer.From, answer.To = kind, m.cfg.Self, msg.From
	switch {
	case givesWay:
		return m.stepBack(now, msg.From, out)
	case goesAfter:
		return policy.AppendTell(out, NoteOverruled, msg.From, &m.token.Ref)
	}
	return out
}

// goesBefore reports whether the held token goes before the one of an Intent: the older one, of one token the copy with the higher number, and of
// two with the same number that of the higher identity, which is the one that stays.
func (m *Machine) goesBefore(msg *wire.Message) bool {
	switch {
	case m.token.ID != msg.Token.ID:
		return m.token.ID.Precedes(msg.Token.ID)
	case m.token.Seq != msg.Token.Seq:
		return m.token.Seq > msg.Token.Seq
	}
	return m.cfg.Self.Compare(msg.From) > 0
}

// onReply counts the consents; one objection is enough.
func (m *Machine) onReply(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if msg.Kind == KindObjection {
		if m.mayObject(now.Time, msg.From) {
			return m.stepBack(now, msg.From, out)
		}
		out = policy.AppendTell(out, NoteOverruled, msg.From, &m.token.Ref)
	}
	if place, ok := m.walk.place(msg.From); ok && place < guardian.MostAsked {
		m.intent.silent &^= 1 << place
	}
	if m.intent.silent == 0 {
		return m.unopposed(now, out)
	}
	return out
}

// unopposed goes on to the run, if this member is still due.
func (m *Machine) unopposed(now policy.Instant, out []policy.Effect) []policy.Effect {
	if now.Time < m.dueAt(now.Time) {
		return m.serve(now, out)
	}
	return m.becomeGranting(now, out)
}

// stepBack lets the token rest for skip, because of another member that runs or is about to. Then the token is passed on.
func (m *Machine) stepBack(now policy.Instant, other wire.MemberID, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteOpposed, other, &m.token.Ref)
	out = m.becomeResting(now.Time, now.Time.Add(m.cfg.Skip), out)
	m.waitsUntilDue = false
	return out
}

// mayObject reports whether an objection of a member counts.
func (m *Machine) mayObject(now policy.Time, id wire.MemberID) bool {
	return m.objectors.counts(now, id, m.opLasts(), m.cfg.MinInterval)
}

// opLasts is how long an operation is expected to take at most: twice Δop, and at least two patiences, because of the time for its save and its start.
func (m *Machine) opLasts() time.Duration {
	return max(policy.Times(2, m.measures.op(&m.cfg)), m.cfg.timeouts(2))
}

// maxObjectors is how many members that object to runs here are remembered.
const maxObjectors = 4

// objector is a member that has objected to a run here, by the hint of its identity, and since when it does.
type objector struct {
	hint  uint32
	since sixteenths
}

// sixteenths is a time in sixteenths of a second, from one: it begins again after eight years.
type sixteenths uint32

func inSixteenths(t policy.Time) sixteenths { return sixteenths(t/policy.Time(time.Second/16)) + 1 }

// objectors are those whose objections are counted, or have been counted lately.
type objectors [maxObjectors]objector

// counts reports whether an objection counts. Those of one member count for as long as an operation lasts. Then they do not count until it may run again,
// which is after Δmin, and after twice that time at least. While all places are taken, another member takes the oldest one: beside a member that passes on
// tokens which it makes up, a run here may have to wait for the runs of many others.
func (o *objectors) counts(now policy.Time, id wire.MemberID, opLasts, minInterval time.Duration) bool {
	moment := inSixteenths(now)
	age := func(e objector) time.Duration {
		if e.since == 0 {
			return math.MaxInt64
		}
		return policy.Times(int(moment-e.since), time.Second/16)
	}
	oldest := 0
	for i, e := range o {
		if e.hint == id.Hint() && age(e) < max(minInterval-opLasts, policy.Times(2, opLasts)) {
			return age(e) < opLasts
		}
		if age(e) > age(o[oldest]) {
			oldest = i
		}
	}
	o[oldest] = objector{hint: id.Hint(), since: moment}
	return true
}
