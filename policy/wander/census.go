package wander

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// In the first lap of a fleet, or after it has grown, most members have met no token, and those whom a member draws at random know as little as it does.
// Only the holder, its guardians and the last holders know. So before a member makes a token, all others have answered, or have been asked mostAsks times.
//
//	asker                                another member
//	  ── Inquiry ─────────────────────────▶  to batchSize members at a time
//	    ◀──────────────────── Seen(token) ──  it has met a token, or was told of one
//	    ◀─────────────────── Unseen(third) ──  it has met none lately; the third asks already, and the asker gives way to it
//
// If all miss a token at once, all would ask all. So whoever is asked by a member of lower identity, or is told of one that asks, gives way: it asks that
// member first, at a random moment of the next seconds.
const (
	batchSize = 64
	mostAsks  = 6
	// pauses is how many batches leave at most in the time between two repetitions.
	pauses = 8
	// mostGivesWay is how often a member gives way in one silence: the one that asks may hear nobody.
	mostGivesWay = 20
	// spread is for how many batches at most it waits with its next question.
	spread = 16
)

// census is the part of a question that goes to all others, from this member on, in the order of identities. A batch begins behind after; silent are its
// members that have not answered, by their distance from the first, and times is how often these were asked.
type census struct {
	after  wire.MemberID
	silent uint64
	times  uint8
}

// asker is the member of the lowest identity that has asked lately, and when it did.
type asker struct {
	id wire.MemberID
	at policy.Time
}

// batch returns the first place of a batch, and how many members it has: those behind after, and this member is behind all.
func (p *peers) batch(after wire.MemberID) (first, n int) {
	all := len(p.ids)
	if all == 0 {
		return 0, 0
	}
	first, ok := p.place(after)
	if ok {
		first++
	}
	return first % all, min((p.rank-first%all+all)%all, batchSize)
}

// at returns the member at a distance behind a place.
func (p *peers) at(first, distance int) wire.MemberID { return p.ids[(first+distance)%len(p.ids)] }

// distance is how far a member is behind a place; ok is false if it is not there.
func (p *peers) distance(first int, id wire.MemberID) (distance int, ok bool) {
	place, ok := p.place(id)
	if !ok {
		return 0, false
	}
	return (place - first + len(p.ids)) % len(p.ids), true
}

// begin begins a batch.
func (c *census) begin(after wire.MemberID, view *peers) {
	_, n := view.batch(after)
	*c = census{after: after, silent: 1<<n - 1}
}

// askAll asks those of the batch that have not answered, or the next batch. After the last one it waits for the answers.
func (m *Machine) askAll(now policy.Time, out []policy.Effect) []policy.Effect {
	q, c := &m.inquiry, &m.inquiry.census
	half := m.answersWithin()
	first, n := m.walk.batch(c.after)
	wait := time.Duration(0)
	switch {
	case c.after.IsZero():
		q.until = policy.Never // Also if fewer were asked until now, before the first token.
		c.begin(m.cfg.Self, &m.walk.peers)
	case c.silent == 0 || c.times == mostAsks:
		if c.silent != 0 {
			wait = half - half/timesAsked
		}
		if n > 0 {
			c.begin(m.walk.at(first, n-1), &m.walk.peers)
		}
	}
	if c.silent == 0 {
		q.until = max(q.askedAt.Add(half), now.Add(wait))
		q.repeatAt = q.until
		return out
	}
	c.times++
	q.repeatAt = now.Add(half / timesAsked)
	first, _ = m.walk.batch(c.after)
	for about, left := m.noToken(), c.silent; left != 0; left &= left - 1 {
		out = m.inquireOf(m.walk.at(first, bits.TrailingZeros64(left)), &about, out)
	}
	return out
}

// answered notes an answer. When the whole batch has answered, the next one need not wait.
func (m *Machine) answered(now policy.Time, from wire.MemberID) {
	q, c := &m.inquiry, &m.inquiry.census
	first, n := m.walk.batch(c.after)
	distance, ok := m.walk.distance(first, from)
	if c.times == 0 || !ok || distance >= n || c.silent&(1<<distance) == 0 {
		return
	}
	if c.silent &^= 1 << distance; c.silent == 0 {
		q.repeatAt = min(q.repeatAt, now.Add(m.answersWithin()/timesAsked/pauses))
	}
}

// recount goes on with a batch in another view: whoever was not in it before has not answered.
func (m *Machine) recount(now policy.Time, before *peers) {
	q, c := &m.inquiry, &m.inquiry.census
	if !q.live || c.times == 0 {
		return
	}
	was, count := before.batch(c.after)
	answered := ^c.silent
	c.silent = 0
	first, n := m.walk.batch(c.after)
	for i := range n {
		distance, ok := before.distance(was, m.walk.at(first, i))
		if !ok || distance >= count || answered&(1<<distance) == 0 {
			c.silent |= 1 << i
		}
	}
	if c.silent == 0 {
		q.repeatAt = min(q.repeatAt, now)
	}
}

// batches is how many batches all others are.
func (m *Machine) batches() int { return (len(m.walk.ids) + batchSize - 2) / batchSize }

// batchTakes is the longest time that a batch takes.
func (m *Machine) batchTakes() time.Duration {
	return policy.Times(mostAsks/timesAsked, m.answersWithin())
}

// noteQuestion remembers who asks, if it is the member of the lowest identity that has asked within the time that a question takes.
func (m *Machine) noteQuestion(now, at policy.Time, id wire.MemberID) {
	if _, ok := m.whoAsks(now); !ok || id.Compare(m.asker.id) < 0 || id == m.asker.id && at > m.asker.at {
		m.asker = asker{id: id, at: at}
	}
}

// whoAsks returns the member of the lowest identity that has asked lately.
func (m *Machine) whoAsks(now policy.Time) (id wire.MemberID, ok bool) {
	lasts := policy.Times(m.batches()+leastLaps, m.batchTakes())
	return m.asker.id, !m.asker.id.IsZero() && now.Sub(m.asker.at) < lasts
}

// giveWay lets a member of lower identity ask, and make the token that both miss.
func (m *Machine) giveWay(now policy.Time, to wire.MemberID) {
	if !m.inquiry.live || m.first.armed || to.Compare(m.cfg.Self) >= 0 || m.regenerateAt() > now || m.silence.gaveWay == mostGivesWay {
		return
	}
	m.silence.gaveWay++
	m.inquiry = inquiry{}
	wait := m.batchTakes()
	if others := policy.Times(min(m.batches(), spread)-1, wait); others > 0 {
		wait += time.Duration(m.cfg.draw(int(others)))
	}
	m.silence.holdOff = now.Add(wait).Sub(m.silence.since.Add(m.regenerateAfter()))
}

// sendUnseen says that this member has met no token lately, and who asks already, if that member goes before the one that asks now.
func (m *Machine) sendUnseen(now policy.Time, to *wire.Message, out []policy.Effect) []policy.Effect {
	none := m.noToken()
	answer := wire.Message{
		Gate: m.cfg.Gate, Kind: KindUnseen, From: m.cfg.Self, To: to.From, Exchange: to.Exchange, Token: none.Ref, Load: none.Load,
	}
	if id, ago, ok := m.goesFirst(now, to.From); ok {
		answer.Nonce = wire.Nonce(max(ago, 1))
		guardian.SetTrail(&answer.Load, &guardian.Trail{id})
	}
	return policy.AppendSend(out, &answer)
}

// goesFirst returns a member that asks and goes before another one, and how long ago it asked.
func (m *Machine) goesFirst(now policy.Time, other wire.MemberID) (id wire.MemberID, ago time.Duration, ok bool) {
	if id, ok = m.whoAsks(now); ok && id.Compare(other) < 0 {
		return id, now.Sub(m.asker.at), true
	}
	return m.cfg.Self, 0, m.inquiry.live && !m.first.armed && m.cfg.Self.Compare(other) < 0
}

// onUnseen handles the answer of a member that has met no token lately. It may know of another one that asks.
func (m *Machine) onUnseen(now policy.Instant, msg *wire.Message) {
	m.answered(now.Time, msg.From)
	leads := guardian.TrailOf(&msg.Load)
	if id := leads[0]; !id.IsZero() && m.walk.has(id) && id != m.cfg.Self {
		m.noteQuestion(now.Time, m.inquiry.askedAt.Add(-time.Duration(msg.Nonce)), id)
		m.giveWay(now.Time, id)
	}
}
