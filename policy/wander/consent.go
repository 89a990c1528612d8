package wander

import (
	"math"
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A member believes every other member that offers it a token, and a member may offer what it does not hold. After a
// partition, too, there may be a second token. So with ask_before_run a member that is due first tells all others, and
// a member that runs objects. This is the mutual exclusion of Ricart and Agrawala for the short time before a run, with
// two differences: only a member with a token may ask, and of two that ask, the one with the older token goes first.
//
//	holder                      another member
//	  ── Intent(h) ─────────────▶  does it run, or is it about to, under a token that goes first?
//	    ◀──────────── Consent(h) ──  no
//	runs
//
// Of two members with tokens, at least one receives the other's question after it has begun to ask itself, so it
// objects or gives way. Two run at once only if the answers of one do not arrive within half a patience. No member
// waits longer than that: a member that cannot be reached has no veto. An objection costs one visit of the token: it
// rests for skip and is passed on.
//
// A Byzantine member may object, too. So the objections of one member count for about as long as an operation takes,
// and then not until that member may have run again: see objectors. In a fleet of more than [guardian.MostAsked]
// members no member asks.

// consent asks the others before a run here, and counts their answers. It remembers the members that object to runs
// here.
type consent struct {
	id wire.Exchange
	// silent are the places, in the view, of the members whose answers are awaited.
	silent    uint64
	objectors objectors
	// asked is how often this member has asked the others before this run. again is true if it was away when the
	// answers were due, and has begun again.
	asked uint8
	again bool
}

// mostRepeats is how often a question is repeated at most: where one message in fifty is lost, one question of ten
// million is.
const mostRepeats = 4

// asksFirst reports whether a member with that view tells the others before it runs.
func (c *Config) asksFirst(view *peers) bool {
	return c.AskBeforeRun && !view.Alone() && len(view.IDs) <= guardian.MostAsked
}

// answersWithin is how long a member waits for answers, here and before it makes a token.
func (c *Config) answersWithin(roundTrip time.Duration) time.Duration {
	return max(c.timeout()/2, roundTrip*3/2)
}

// begin asks the other members whether one of them runs. It also waits for members that have failed a handoff lately,
// because a Byzantine member can make others look as if they had.
func (q *consent) begin(cfg *Config, view *peers, held *guardian.Token, out []policy.Effect) []policy.Effect {
	q.asked, q.again = 1, false
	q.id, q.silent = wire.Exchange(policy.Draw(cfg.Entropy)), 0
	for place, id := range view.IDs {
		if place == view.Rank {
			continue
		}
		q.silent |= 1 << place
		out = q.ask(cfg, id, held, out)
	}
	return out
}

func (q *consent) ask(cfg *Config, to wire.MemberID, held *guardian.Token, out []policy.Effect) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To = cfg.Gate, KindIntent, cfg.Self, to
	msg.Exchange, msg.Token, msg.Load = q.id, held.Ref, held.Load
	return out
}

// beginsAgain reports whether the question that ended at until is asked once more: this member was away, and an
// objection may have come meanwhile.
func (q *consent) beginsAgain(now, until policy.Time, answersWithin time.Duration) bool {
	return now >= until.Add(answersWithin/timesAsked) && !q.again
}

// begunAgain records that the question was asked once more.
func (q *consent) begunAgain() { q.again = true }

// repeat asks the members that have not answered, if the time for that has come. The question ends at until.
func (q *consent) repeat(
	cfg *Config, now, until policy.Time, view *peers, held *guardian.Token, out []policy.Effect,
) []policy.Effect {
	if now < q.repeatsAt(cfg, until) {
		return out
	}
	for q.asked <= mostRepeats && now >= q.repeatsAt(cfg, until) {
		q.asked++
	}
	for left := q.silent; left != 0; left &= left - 1 {
		out = q.ask(cfg, view.IDs[bits.TrailingZeros64(left)], held, out)
	}
	return out
}

// repeatsAt is when the question is repeated: first after a sixteenth of half a patience, then each time after twice as
// long. In a slow network the repetitions begin later: they are counted back from the end of the question.
func (q *consent) repeatsAt(cfg *Config, until policy.Time) policy.Time {
	if q.asked > mostRepeats {
		return until
	}
	part := cfg.timeout() / 2 >> mostRepeats
	return until.Add(-policy.Times(1<<mostRepeats-(1<<q.asked-1), part))
}

// change continues with the question in another view, and reports whether no answer is awaited any longer. A member
// that has gone is no longer awaited, and a member that comes is not asked.
func (q *consent) change(view, before *peers) (over bool) {
	var silent uint64
	for left := q.silent; left != 0; left &= left - 1 {
		if place, ok := view.Place(before.IDs[bits.TrailingZeros64(left)]); ok && place < guardian.MostAsked {
			silent |= 1 << place
		}
	}
	q.silent = silent
	return silent == 0
}

// isAnswer reports whether msg answers the open question about a token; about is nil if no question is open.
func (q *consent) isAnswer(msg *wire.Message, about *guardian.Token, view *peers) bool {
	if about == nil || msg.Kind != KindConsent && msg.Kind != KindObjection {
		return false
	}
	return msg.Exchange == q.id && msg.Token.ID == about.ID && view.Has(msg.From)
}

// answered counts an answer, and reports whether all have answered.
func (q *consent) answered(from wire.MemberID, view *peers) (all bool) {
	if place, ok := view.Place(from); ok && place < guardian.MostAsked {
		q.silent &^= 1 << place
	}
	return q.silent == 0
}

// mayObject reports whether an objection of a member counts.
func (q *consent) mayObject(cfg *Config, now policy.Time, id wire.MemberID, op time.Duration) bool {
	return q.objectors.counts(now, id, cfg.opLasts(op), cfg.MinInterval)
}

// opLasts is how long an operation is expected to take at most: twice Δop, and at least two patiences, because of the
// time for its save and its start.
func (c *Config) opLasts(op time.Duration) time.Duration {
	return max(policy.Times(2, op), c.timeouts(2))
}

// goesBefore reports whether the held token goes before the token of an Intent. The older token goes first; of two
// copies of one token, the one with the higher number; of two with the same number, that of the member with the higher
// identity, which is the copy that stays.
func (c *Config) goesBefore(held *guardian.Token, msg *wire.Message) bool {
	switch {
	case held.ID != msg.Token.ID:
		return held.ID.Precedes(msg.Token.ID)
	case held.Seq != msg.Token.Seq:
		return held.Seq > msg.Token.Seq
	}
	return c.Self.Compare(msg.From) > 0
}

// maxObjectors is how many members that object to runs here are remembered.
const maxObjectors = 4

// objector is a member that has objected to a run here, by the hint of its identity, and the time since which it does.
type objector struct {
	hint  uint32
	since sixteenths
}

// sixteenths is a time in sixteenths of a second, counted from one; it wraps around after eight years.
type sixteenths uint32

func inSixteenths(t policy.Time) sixteenths { return sixteenths(t/policy.Time(time.Second/16)) + 1 }

// objectors are the members whose objections count, or counted lately.
type objectors [maxObjectors]objector

// counts reports whether an objection counts. Objections of one member count for as long as an operation lasts. After
// that they do not count until the member may run again: after Δmin, and at least after twice that duration. If all
// places are taken, a new objector replaces the oldest. So beside a member that passes on tokens which it makes up, a
// run here may have to wait for the runs of many others.
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
