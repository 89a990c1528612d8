package wander

import (
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A question goes to one member first, because most often one answer is enough. A third of the time for answers later
// it goes to maxAsked members, and to at most maxLeads more that may know better; after another third it goes to all:
// see census.go. An answer that names other members leads to a further question, at most maxSteps times.
const (
	maxAsked     = 4
	maxLeads     = 2
	askedAtFirst = 1
	timesAsked   = 3
	maxSteps     = 8
)

// inquiry is the question before a member makes a token: has another member seen one? The paper's members know only
// their own silence. But a silence is also long when a lap takes long, because the operation takes longer or the fleet
// has grown. Then every member late in the lap would make a token. After a real loss, every member that has not yet
// seen the new token would make another one. A token is lost only if no other member has seen it either. So before one
// is made, all are asked, by one member on behalf of the others.
//
// After a silence a member asks only if tokens have guardians: without them this is the plain paper. For the first
// token of a fleet, see onTurn.
type inquiry struct {
	live bool
	// asked are the members to ask; times is how often they were asked. steps is how many answers led to a further
	// question.
	times, steps uint8
	// certain is true if the question is whether the token is certainly lost, before a silence is over.
	// members is how many members there are at least, according to the answers.
	certain                  bool
	members                  uint32
	asked                    asked
	census                   census
	id                       wire.Exchange
	askedAt, repeatAt, until policy.Time
}

// asked lists members by their places in the view, from 1; empty places are zero. If the view changes meanwhile, other
// members are asked.
type asked [maxAsked + maxLeads]uint32

// sighting is a token that another member has seen: which one, when, and the members that may have seen it later.
type sighting struct {
	at    policy.Time
	id    wire.TokenID
	seq   wire.Seq
	leads guardian.Trail
}

// inquire asks other members if it must, and reports whether the time for their answers is over. In any case it waits
// for the answers to an open question. At the end it asks all members, or only those whose turn to make the first token
// was earlier.
func (l *loss) inquire(
	o *outlook, now policy.Instant, must, all bool, out []policy.Effect,
) (over bool, effects []policy.Effect) {
	q := &l.inquiry
	half := o.answersWithin()
	switch {
	case !q.live && !must:
		return true, out
	case !q.live || now.Time >= q.wakeAt().Add(half):
		// The same applies if this member was away while the answers may have come.
		noToken := o.cfg.noToken()
		out = policy.AppendTell(out, NoteInquired, wire.MemberID{}, &noToken.Ref)
		*q = inquiry{
			live: true, id: wire.Exchange(policy.Draw(o.cfg.Entropy)), asked: l.drawAsked(o),
			askedAt: now.Time, until: policy.Never, certain: all && now.Time < l.regenerateAt(o),
		}
	case now.Time >= q.until && (!must || !all || !q.census.after.IsZero()):
		return true, out
	case now.Time < q.repeatAt:
		return false, out
	}
	q.times = min(q.times+1, timesAsked)
	switch {
	case q.times < timesAsked:
		q.repeatAt = now.Time.Add(half / timesAsked)
	case !all:
		// The first token was unclear when the question began, and is no more. If all have to be asked again, that
		// begins with the first of them.
		o.cfg.Marks.Hit(markClearAgain)
		q.certain, q.census = false, census{}
		// Also if this member was away for a while.
		q.until = max(q.askedAt.Add(half), now.Time.Add(half/timesAsked))
		q.repeatAt = q.until
	default:
		out = l.askAll(o, now.Time, out)
		if now.Time >= q.until && q.certain && l.isStale(o, now.Time) {
			o.cfg.Marks.Hit(markAsksAllAgain)
			*q = inquiry{
				live: true, id: wire.Exchange(policy.Draw(o.cfg.Entropy)), askedAt: now.Time, until: policy.Never,
				certain: true, times: timesAsked,
			}
			noToken := o.cfg.noToken()
			out = policy.AppendTell(out, NoteInquired, wire.MemberID{}, &noToken.Ref)
			out = l.askAll(o, now.Time, out)
		}
		return now.Time >= q.until, out
	}
	to, about := q.asked[:], o.cfg.noToken()
	if q.times == askedAtFirst {
		if id, ok := l.whoAsks(o, now.Time); ok && all && o.walk.Has(id) {
			o.cfg.Marks.Hit(markAsksAsker)
			return false, l.inquireOf(o, id, &about, out)
		}
		to = q.asked[:askedAtFirst]
	}
	for _, place := range to {
		if place != 0 && int(place) <= len(o.walk.IDs) {
			out = l.inquireOf(o, o.walk.IDs[place-1], &about, out)
		}
	}
	return false, out
}

// inquireOf asks one member.
func (l *loss) inquireOf(o *outlook, id wire.MemberID, about *guardian.Token, out []policy.Effect) []policy.Effect {
	if id == o.cfg.Self {
		return out
	}
	return policy.AppendSend(out, &wire.Message{
		Gate: o.cfg.Gate, Kind: KindInquiry, From: o.cfg.Self, To: id, Exchange: l.inquiry.id,
		Token: about.Ref, Load: about.Load,
	})
}

// noToken names the slot whose token is looked for.
func (c *Config) noToken() guardian.Token {
	t := guardian.Token{Ref: wire.Ref{Slot: c.Slot}}
	SetLastSlot(&t.Load, c.LastSlot)
	return t
}

// wakeAt is when the question is repeated or ends.
func (q *inquiry) wakeAt() policy.Time { return min(q.repeatAt, q.until) }

// drawAsked returns the members to ask: all, if there are few. After a silence these include the members to which the
// token went: only the holder and its guardians know of a token that is held for long, and random questions would miss
// them.
func (l *loss) drawAsked(o *outlook) (to asked) {
	others := len(o.walk.IDs) - 1
	// Before the first token: the members with the lowest ranks, because they make it. Otherwise: from a random start,
	// in steps of a quarter of the others, so that no member is drawn twice.
	start, stride := others-o.walk.Rank, 1
	if !l.first.armed {
		start, stride = o.cfg.draw(others), max(others/maxAsked, 1)
	}
	n := min(maxAsked, others)
	for i := range n {
		behind := (start + i*stride) % others
		to[i] = uint32((o.walk.Rank+1+behind)%len(o.walk.IDs)) + 1
	}
	sighted := l.sighted(o)
	leads := sighted.Trail()
	if l.first.armed {
		leads = o.walk.lowest(o.cfg)
	}
	to.add(o.cfg, &o.walk.peers, n, &leads, wire.MemberID{})
	if place, ok := o.walk.Place(l.first.rival); ok && l.first.armed {
		to.prefer(uint32(place) + 1)
	}
	return to
}

// prefer makes a member the first to ask. If there is no room for it, the last one is not asked.
func (to *asked) prefer(place uint32) {
	at := slices.Index(to[:], place)
	if at < 0 {
		at = slices.Index(to[:], 0)
	}
	if at < 0 {
		at = len(to) - 1
	}
	copy(to[1:at+1], to[:at])
	to[0] = place
}

// add adds members of the view to the n members to ask, each once, and returns the new number.
func (to *asked) add(cfg *Config, view *peers, n int, leads *guardian.Trail, except wire.MemberID) int {
	for _, id := range leads[:leads.Len()] {
		place, ok := view.Place(id)
		if !ok || id == except || id == cfg.Self || n == len(to) || slices.Contains(to[:n], uint32(place)+1) {
			continue
		}
		to[n] = uint32(place) + 1
		n++
	}
	return n
}

// sighted returns the token that this member has heard of last. Its trail lists the members that may have heard of it
// since: its holder and its guardians, as far as this member knows them. It is zero if this member has met no token.
func (l *loss) sighted(o *outlook) guardian.Token {
	t, leads := o.cfg.noToken(), l.silence.told.leads
	if t.ID, t.Seq = l.silence.told.id, l.silence.told.seq; !t.ID.IsZero() {
		t.SetTrail(&leads)
		return t
	}
	last, holder := o.guardian.Last()
	if last.ID.IsZero() {
		last = o.token
	}
	t.ID, t.Seq = last.ID, last.Seq
	if _, keeps := o.guardian.Keeps(); keeps {
		leads.Add(o.cfg.Self)
	}
	if !holder.IsZero() {
		leads.Add(holder)
	}
	for _, id := range last.Trail() {
		leads.Add(id)
	}
	t.SetTrail(&leads)
	return t
}

// hasSighted reports whether this member has met a token, or was told of one.
func (l *loss) hasSighted(o *outlook) bool {
	last, _ := o.guardian.Last()
	return !l.silence.told.id.IsZero() || !last.ID.IsZero() || !o.token.ID.IsZero()
}

// onInquiry answers with the token that this member has heard of last, how long ago that was, and the members that may
// have heard of it since. If that was too long ago to help the asker, the answer may name only a member that asks
// already.
func (l *loss) onInquiry(
	o *outlook, now policy.Instant, msg *wire.Message, busy bool, out []policy.Effect,
) []policy.Effect {
	l.giveWay(o, now.Time, msg.From)
	l.noteRival(msg.From)
	defer l.noteQuestion(o, now.Time, now.Time, msg.From)
	age, token := now.Time.Sub(l.silence.since), *o.token
	_, kept := o.guardian.KeptUntil()
	switch {
	case busy:
		age = 0
	case kept:
		o.cfg.Marks.Hit(markTellsOfKept)
		age, token = 0, l.sighted(o)
	case !l.hasSighted(o):
		return l.sendUnseen(o, now.Time, msg, out)
	case !l.silence.told.id.IsZero():
		o.cfg.Marks.Hit(markTellsSighting)
		age = now.Time.Sub(l.silence.told.at)
		fallthrough
	default:
		token = l.sighted(o)
	}
	if _, _, ok := l.goesFirst(o, now.Time, msg.From); ok && age >= l.regenerateAfter(o) {
		o.cfg.Marks.Hit(markNamesFirst)
		return l.sendUnseen(o, now.Time, msg, out)
	}
	answer := wire.Message{
		Gate: o.cfg.Gate, Kind: KindSeen, From: o.cfg.Self, To: msg.From, Exchange: msg.Exchange,
		Nonce: wire.Nonce(max(age, 1)), Token: token.Ref, Load: token.Load,
	}
	l.vouch(o, now.Time, busy, &answer)
	return policy.AppendSend(out, &answer)
}

// expectsAnswer reports whether msg answers the open question.
func (l *loss) expectsAnswer(msg *wire.Message) bool {
	return l.inquiry.live && msg.Exchange == l.inquiry.id && msg.Nonce <= math.MaxInt64
}

// onSeen handles an answer. If another member saw the token later than this one, this member's silence begins at that
// time, and the other member makes a new token if none comes. All members that hear of the same sighting would make a
// token at the same moment. So they wait longer, for as long as the new token may take to reach them.
func (l *loss) onSeen(o *outlook, now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	out = l.meet(out)
	vouches := l.vouches(now.Time, msg)
	if vouches || !l.inquiry.certain {
		l.answered(o, now.Time, msg.From)
	}
	// The time is counted from when the question was sent. Counted from the answer, a sighting would become later each
	// time it is passed on.
	at := l.inquiry.askedAt.Add(-time.Duration(msg.Nonce))
	if at > l.silence.since {
		lap := o.maxInterval() / 3
		o.cfg.Marks.Hit(markSeenLater)
		l.silence.since, l.silence.holdOff, l.silence.gaveWay = at, lap+time.Duration(o.cfg.draw(int(lap))), 0
		l.hear(at, msg)
		if l.regenerateAt(o) <= now.Time {
			return l.pursue(o, now, msg.From, out)
		}
	} else if !l.hasSighted(o) {
		l.hear(at, msg) // It can answer others now.
	}
	if l.regenerateAt(o) <= now.Time {
		return out
	}
	switch {
	case !l.inquiry.certain:
		l.inquiry = inquiry{}
	case vouches && l.lastHoldersGone(o, now.Time):
		return out
	default:
		o.cfg.Marks.Hit(markSeenUnsure)
		l.unsure(o, now.Time)
	}
	return policy.AppendTell(out, NoteSeen, msg.From, &msg.Token)
}

// hear remembers a token that was seen elsewhere at that time.
func (l *loss) hear(at policy.Time, seen *wire.Message) {
	l.silence.told = sighting{at: at, id: seen.Token.ID, seq: seen.Token.Seq, leads: guardian.TrailOf(&seen.Load)}
}

// pursue asks the members that an answer names. The token was seen too long ago to wait for it, but later than this
// member knew, and has moved on.
func (l *loss) pursue(o *outlook, now policy.Instant, from wire.MemberID, out []policy.Effect) []policy.Effect {
	q := &l.inquiry
	var leads asked
	if q.times == timesAsked || q.steps >= maxSteps {
		o.cfg.Marks.Hit(markStepsOver)
		return out // These members are asked in any case, if all are.
	}
	if leads.add(o.cfg, &o.walk.peers, 0, &l.silence.told.leads, from) == 0 {
		return out
	}
	o.cfg.Marks.Hit(markPursues)
	// This is a new question, so its answers are counted from when it was sent.
	*q = inquiry{
		live: true, id: wire.Exchange(policy.Draw(o.cfg.Entropy)), asked: leads,
		times: askedAtFirst, steps: q.steps + 1, askedAt: now.Time, repeatAt: now.Time, until: policy.Never,
	}
	noToken := o.cfg.noToken()
	out = policy.AppendTell(out, NoteInquired, from, &noToken.Ref)
	_, out = l.inquire(o, now, true, true, out)
	return out
}
