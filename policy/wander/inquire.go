package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// How a question is asked: first one member, which most often knows enough, and then, each third of the time that there is for
// answers, as many as maxAsked. That none of these has seen a token which nine in ten have happens once in ten thousand times.
const (
	maxAsked     = 4
	askedAtFirst = 1
	timesAsked   = 3
)

// inquiry is what a member asks before it makes a token: has one come to anybody else? The paper's members only know
// their own silence, which is long whenever a lap is: the operation takes longer, the fleet has grown. Then all who are late in
// the lap make a token each; and after a real loss, all who have not seen the new one yet. A silence is the fleet's only if
// others share it.
//
// After a silence, it goes with guardians: without any, this is the plain paper. For the first token of a fleet, see onTurn.
type inquiry struct {
	live bool
	id   wire.HandoffID
	// asked are some members; empty places are zero. times is how often they have been asked.
	asked                    [maxAsked]wire.MemberID
	times                    uint8
	askedAt, repeatAt, until policy.Time
}

// onSilence: no token has come for regenerate-after.
func (m *Machine) onSilence(now policy.Instant, out []policy.Effect) []policy.Effect {
	over, out := m.inquire(now, m.cfg.Backups > 0 && !m.peers.alone(), out)
	if over {
		return m.regenerate(now, out)
	}
	return out
}

// inquire asks others, if it must, and reports whether the time for their answers is over. A question that is out is waited for in
// any case.
func (m *Machine) inquire(now policy.Instant, must bool, out []policy.Effect) (over bool, effects []policy.Effect) {
	q := &m.inquiry
	half := m.timeout() / 2
	switch {
	case !q.live && !must:
		return true, out
	case !q.live || now.Time >= q.until.Add(half/2):
		// Also if this member was away while the answers may have come.
		noToken := m.noToken()
		out = policy.AppendTell(out, policy.NoteInquired, wire.MemberID{}, &noToken)
		*q = inquiry{live: true, id: wire.HandoffID(policy.Draw(m.cfg.Entropy)), asked: m.drawAsked(), askedAt: now.Time, until: now.Time.Add(half)}
	case now.Time >= q.until:
		return true, out
	case now.Time < q.repeatAt:
		return false, out
	}
	to := q.asked[:]
	if q.times == 0 {
		to = q.asked[:askedAtFirst]
	}
	q.times++
	if q.repeatAt = now.Time.Add(half / timesAsked); q.times >= timesAsked {
		q.repeatAt = q.until
	}
	for _, id := range to {
		if !id.IsZero() {
			out = policy.AppendSend(out, &wire.Message{
				Gate: m.cfg.Gate, Kind: wire.KindInquiry, From: m.cfg.Self, To: id, Handoff: q.id, Token: m.noToken(),
			})
		}
	}
	return false, out
}

// noToken says which of the gate's tokens is looked for.
func (m *Machine) noToken() wire.Token { return wire.Token{Slot: m.cfg.Slot, LastSlot: m.cfg.LastSlot} }

// wakeAt is when the question must be seen to next.
func (q *inquiry) wakeAt() policy.Time { return min(q.repeatAt, q.until) }

// makesAt is when a member without a token has to see to it that there is one: ask, ask again, or make it.
func (m *Machine) makesAt() (at policy.Time, ok bool) {
	if m.inquiry.live {
		return m.inquiry.wakeAt(), true
	}
	if m.regenerates() {
		at, ok = m.regenerateAt(), true
	}
	if mints := m.mintsAt(); m.first.armed && (!ok || mints < at) {
		at, ok = mints, true
	}
	return at, ok
}

// drawAsked says whom to ask: all, if there are few.
func (m *Machine) drawAsked() (asked [maxAsked]wire.MemberID) {
	others := len(m.peers.ids) - 1
	// The first in rank, who make the first token; or, from a random start in steps of a quarter of the others, so that nobody is
	// drawn twice.
	start, stride := others-m.peers.rank, 1
	if !m.first.armed {
		start, stride = m.draw(others), max(others/maxAsked, 1)
	}
	for i := range min(maxAsked, others) {
		behind := (start + i*stride) % others
		asked[i] = m.peers.ids[(m.peers.rank+1+behind)%len(m.peers.ids)]
	}
	return asked
}

// expectsInquiry: who has met a token can answer.
func (m *Machine) expectsInquiry() bool { return m.state != gone && !m.token.ID.IsZero() }

// onInquiry answers with the token that was here last, and how long ago that was, or that any other was heard of.
func (m *Machine) onInquiry(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	m.noteAsker(msg.From)
	age := now.Time.Sub(m.silentSince)
	if m.holds {
		age = 0
	}
	return policy.AppendSend(out, &wire.Message{
		Gate: m.cfg.Gate, Kind: wire.KindSeen, From: m.cfg.Self, To: msg.From, Handoff: msg.Handoff,
		Nonce: wire.Nonce(max(age, 1)), Token: m.token,
	})
}

// expectsSeen reports whether msg answers the question that is out.
func (m *Machine) expectsSeen(msg *wire.Message) bool {
	return m.inquiry.live && msg.Handoff == m.inquiry.id && msg.Nonce <= math.MaxInt64
}

// onSeen: a token was seen elsewhere, later than here. The silence begins then; and if no token comes, it is for the one who saw it
// to make a new one. All who are told of the same sighting would make theirs at the same moment, so they wait for as long as that
// one may take to come to them.
func (m *Machine) onSeen(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	out = m.meetToken(m.witness(now, msg, out))
	// From when it was asked: counted from when the answer came, what goes from mouth to mouth would be later each time, and in the
	// end later than what any of them has seen.
	at := m.inquiry.askedAt.Add(-time.Duration(msg.Nonce))
	if at > m.silentSince {
		lap := m.maxInterval() / 3
		m.silentSince, m.deference = at, lap+time.Duration(m.draw(int(lap)))
	}
	if m.regenerateAt() <= now.Time {
		return out
	}
	m.inquiry = inquiry{}
	return policy.AppendTell(out, policy.NoteSeen, msg.From, &msg.Token)
}
