package wander

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// In the first lap of a fleet, or after it has grown, most members have met no token, and the members that one of them
// draws at random know as little as it does. Only the holder, its guardians and the last holders know. So before a
// member makes a token, all others have answered, or have been asked mostAsks times.
//
//	asker                                another member
//	  ── Inquiry ─────────────────────────▶  to batchSize members at a time
//	    ◀──────────────────── Seen(token) ──  it has met a token, or was told of one
//	    ◀─────────────────── Unseen(third) ──  it has met none lately; the third asks already, and goes first
//
// If all members miss a token at once, all would ask all. So a member gives way if a member of lower identity asks it,
// or if it is told that one asks: it asks that member first, at a random moment of the next seconds.
const (
	batchSize = 64
	mostAsks  = 6
	// pauses is how many batches are sent at most in the time between two repetitions.
	pauses = 8
	// mostGivesWay is how often a member gives way in one silence: the member that asks may hear no other. It is no
	// bound where the question is whether a loss is certain: all must answer it, also one that hears no other.
	mostGivesWay = 20
	// spread is for how many batches at most a member delays its next question.
	spread = 16
)

// census is the part of a question that goes to all other members in the order of identities, beginning after this
// member. A batch is the n members after the identity after. silent are those of them that have not answered, by their
// distance from the first one; times is how often these were asked.
type census struct {
	after    wire.MemberID
	silent   uint64
	times, n uint8
}

// asker is the member of the lowest identity that has asked lately, and the time at which it did.
type asker struct {
	id wire.MemberID
	at policy.Time
}

// batch returns the first place of the batch that begins after an identity, and its number of members. The last batch
// ends before this member.
func (p *peers) batch(after wire.MemberID) (first, n int) {
	all := len(p.IDs)
	if all == 0 {
		return 0, 0
	}
	first, ok := p.Place(after)
	if ok {
		first++
	}
	return first % all, min((p.Rank-first%all+all)%all, batchSize)
}

// at returns the member at a distance from a place.
func (p *peers) at(first, distance int) wire.MemberID { return p.IDs[(first+distance)%len(p.IDs)] }

// distance is how far a member is from a place; ok is false if the member is not in the view.
func (p *peers) distance(first int, id wire.MemberID) (distance int, ok bool) {
	place, ok := p.Place(id)
	if !ok {
		return 0, false
	}
	return (place - first + len(p.IDs)) % len(p.IDs), true
}

// begin begins a batch.
func (c *census) begin(after wire.MemberID, view *peers) {
	_, n := view.batch(after)
	*c = census{after: after, silent: 1<<n - 1, n: uint8(n)}
}

// askAll asks those of the batch that have not answered, or the next batch. After the last one it waits for the
// answers.
func (l *loss) askAll(o *outlook, now policy.Time, out []policy.Effect) []policy.Effect {
	q, c := &l.inquiry, &l.inquiry.census
	half := o.answersWithin()
	first, _ := o.walk.batch(c.after)
	wait := time.Duration(0)
	switch {
	case c.after.IsZero():
		q.until = policy.Never // Also if fewer were asked until now, before the first token.
		c.begin(o.cfg.Self, &o.walk.peers)
	case c.silent == 0 || c.times >= mostAsks && !q.certain:
		if c.silent != 0 {
			o.cfg.Marks.Hit(markSilentBatch)
			wait = half - half/timesAsked
		}
		if c.n > 0 {
			c.begin(o.walk.at(first, int(c.n)-1), &o.walk.peers)
		}
	}
	if c.silent == 0 {
		q.until = max(q.askedAt.Add(half), now.Add(wait))
		q.repeatAt = q.until
		return out
	}
	c.times++
	if q.repeatAt = now.Add(half / timesAsked); c.times > mostAsks {
		o.cfg.Marks.Hit(markAsksSlowly)
		q.repeatAt = now.Add(half)
	}
	first, _ = o.walk.batch(c.after)
	for about, left := o.cfg.noToken(), c.silent; left != 0; left &= left - 1 {
		out = l.inquireOf(o, o.walk.at(first, bits.TrailingZeros64(left)), &about, out)
	}
	return out
}

// answered notes an answer. When the whole batch has answered, the next one need not wait.
func (l *loss) answered(o *outlook, now policy.Time, from wire.MemberID) {
	q, c := &l.inquiry, &l.inquiry.census
	first, _ := o.walk.batch(c.after)
	distance, ok := o.walk.distance(first, from)
	if c.times == 0 || !ok || distance >= int(c.n) || c.silent&(1<<distance) == 0 {
		return
	}
	if c.silent &^= 1 << distance; c.silent == 0 {
		q.repeatAt = min(q.repeatAt, now.Add(o.answersWithin()/timesAsked/pauses))
	}
}

// recount continues with a batch in another view: members that were not in the view before count as not having
// answered. The batch ends where it did: if some of it are gone, those behind it would be asked less often.
func (l *loss) recount(o *outlook, now policy.Time, before *peers) {
	q, c := &l.inquiry, &l.inquiry.census
	if !q.live || c.times == 0 {
		return
	}
	was, _ := before.batch(c.after)
	answered, count := ^c.silent, int(c.n)
	first, n := o.walk.batch(c.after)
	if count > 0 {
		behind, _ := o.walk.batch(before.at(was, count-1))
		n = min(n, (behind-first+len(o.walk.IDs))%max(len(o.walk.IDs), 1))
	}
	c.silent, c.n = 0, uint8(n)
	for i := range n {
		distance, ok := before.distance(was, o.walk.at(first, i))
		if !ok || distance >= count || answered&(1<<distance) == 0 {
			c.silent |= 1 << i
		}
	}
	if c.silent == 0 {
		o.cfg.Marks.Hit(markViewAnswers)
		q.repeatAt = min(q.repeatAt, now)
	}
}

// batches is how many batches all other members make.
func (p *peers) batches() int { return (len(p.IDs) + batchSize - 2) / batchSize }

// batchTakes is the longest time that a batch takes.
func (o *outlook) batchTakes() time.Duration {
	return policy.Times(mostAsks/timesAsked, o.answersWithin())
}

// noteQuestion remembers the member that asks, if its identity is the lowest of those that have asked within the time
// that a question takes.
func (l *loss) noteQuestion(o *outlook, now, at policy.Time, id wire.MemberID) {
	if _, ok := l.whoAsks(o, now); !ok || id.Compare(l.asker.id) < 0 || id == l.asker.id && at > l.asker.at {
		l.asker = asker{id: id, at: at}
	}
}

// isStale reports whether a question has lasted for so long, because somebody who has left the view by now did not
// answer, that others may have made a token since they have answered. Then all are asked once more, at once.
func (l *loss) isStale(o *outlook, now policy.Time) bool {
	return now.Sub(l.inquiry.askedAt) > o.answersWithin()+policy.Times(o.walk.batches(), o.batchTakes())
}

// whoAsks returns the member of the lowest identity that has asked lately.
func (l *loss) whoAsks(o *outlook, now policy.Time) (id wire.MemberID, ok bool) {
	lasts := policy.Times(o.walk.batches()+leastLaps, o.batchTakes())
	return l.asker.id, !l.asker.id.IsZero() && now.Sub(l.asker.at) < lasts
}

// giveWay lets a member of lower identity ask, and make the token that both miss. Before the first token of a fleet the
// members ask one after the other. Two ask at once where one has come back whose turn was earlier; where Δmax is over
// before their turns have come; or where that token may exist already: then each asks all, and some may wait for the
// answer of the same host, and learn in one moment that it is gone.
func (l *loss) giveWay(o *outlook, now policy.Time, to wire.MemberID) {
	certain, first := l.inquiry.certain, l.first.armed && now < l.regenerateAt(o)
	if !l.inquiry.live || to.Compare(o.cfg.Self) >= 0 {
		return
	}
	if !certain {
		if !first && l.regenerateAt(o) > now || l.silence.gaveWay == mostGivesWay {
			return
		}
		o.cfg.Marks.Hit(markGivesWay)
		l.silence.gaveWay++
	}
	l.inquiry = inquiry{}
	wait := o.batchTakes()
	if others := policy.Times(min(o.walk.batches(), spread)-1, wait); others > 0 {
		wait += time.Duration(o.cfg.draw(int(others)))
	}
	switch {
	case first, certain && l.first.armed:
		o.cfg.Marks.Hit(markGivesWayFirst)
		l.first.at = now.Add(wait)
		return
	case certain:
		o.cfg.Marks.Hit(markGivesWayCertain)
		l.certainty.at = now.Add(wait)
		return
	}
	l.silence.holdOff = now.Add(wait).Sub(l.silence.since.Add(l.regenerateAfter(o)))
}

// sendUnseen answers that this member has met no token lately. If another member asks already and goes before the
// present asker, the answer names it.
func (l *loss) sendUnseen(o *outlook, now policy.Time, to *wire.Message, out []policy.Effect) []policy.Effect {
	none := o.cfg.noToken()
	answer := wire.Message{
		Gate: o.cfg.Gate, Kind: KindUnseen, From: o.cfg.Self, To: to.From, Exchange: to.Exchange,
		Token: none.Ref, Load: none.Load,
	}
	if id, ago, ok := l.goesFirst(o, now, to.From); ok {
		o.cfg.Marks.Hit(markTellsOfAsker)
		answer.Nonce = wire.Nonce(max(ago, 1))
		guardian.SetTrail(&answer.Load, &guardian.Trail{id})
	}
	l.vouch(o, now, false, &answer)
	return policy.AppendSend(out, &answer)
}

// goesFirst returns a member that asks and goes before another one, and how long ago it asked.
func (l *loss) goesFirst(
	o *outlook, now policy.Time, other wire.MemberID,
) (id wire.MemberID, ago time.Duration, ok bool) {
	if id, ok = l.whoAsks(o, now); ok && id.Compare(other) < 0 {
		return id, now.Sub(l.asker.at), true
	}
	return o.cfg.Self, 0, l.inquiry.live && o.cfg.Self.Compare(other) < 0
}

// onUnseen handles the answer of a member that has met no token lately. It may know of another one that asks.
func (l *loss) onUnseen(o *outlook, now policy.Instant, msg *wire.Message) {
	if l.vouches(now.Time, msg) || !l.inquiry.certain {
		l.answered(o, now.Time, msg.From)
	} else {
		o.cfg.Marks.Hit(markUnseenUnsure)
		l.unsure(o, now.Time)
	}
	leads := guardian.TrailOf(&msg.Load)
	if id := leads[0]; !id.IsZero() && o.walk.Has(id) && id != o.cfg.Self {
		l.noteQuestion(o, now.Time, l.inquiry.askedAt.Add(-time.Duration(msg.Nonce)), id)
		l.giveWay(o, now.Time, id)
	}
}
