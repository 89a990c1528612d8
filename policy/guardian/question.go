package guardian

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// MostAsked is the largest fleet of which all members are asked. In a larger fleet, one lie would cost too many
// messages. There only a member that hears no other asks others than the guardians: this many with each question.
const MostAsked = 64

// question is an open question: of a guardian that suspects the holder, or of a holder that was away.
type question struct {
	live bool
	// byHolder is set if this member holds the token; first, if the first answer is enough (Probe); answered, after the
	// first answer.
	byHolder, first, answered bool
	id                        wire.Exchange
	token                     wire.TokenID
	// silent are the members among the holder and the guardians that have not answered; empty places are zero. unasked
	// is a holder that is not asked.
	silent  [1 + MaxBackups]wire.MemberID
	unasked wire.MemberID
	// all is set if other members are asked, too; spreads, if they are to be asked now; later, if they are to be asked
	// at the first repetition; more, if there are still others. missing is the sum of the marks of the members that
	// have not answered. A member that answers twice counts as missing.
	all, spreads, later, more bool
	missing                   uint64
	// The question is repeated at repeatAt, and ends at until.
	repeatAt, until policy.Time
	wait            time.Duration
}

// waitsFor reports whether m is a missing answer to the question.
func (q *question) waitsFor(m *wire.Message) bool {
	return q.live && m.Kind != KindAsk && m.Exchange == q.id && m.Token.ID == q.token && (q.all || q.place(m.From) >= 0)
}

// meets reports whether m, a heartbeat, answers a question to others: its sender holds the token of the question, or
// another token of the gate.
func (q *question) meets(m *wire.Message) bool {
	return q.live && q.all && m.Kind == KindHeartbeat && m.Exchange == q.id
}

// Meets reports whether m is a heartbeat that answers an open question of this member to others than the guardians.
func (g *Machine) Meets(m *wire.Message) bool { return g.question.meets(m) }

// Wait postpones a revival: a holder has answered.
func (g *Machine) Wait(now policy.Time) { g.calm(now, g.patience()) }

func (q *question) place(id wire.MemberID) int {
	if id.IsZero() {
		return -1
	}
	return slices.Index(q.silent[:], id)
}

// ask asks which member holds a token. It asks the token's holder, if that is known, and its guardians.
func (g *Machine) ask(now policy.Time, about *Token, holder wire.MemberID, out []policy.Effect) []policy.Effect {
	wait := g.cfg.Patience / firstRepeat
	q := &g.question
	*q = question{
		live: true, id: wire.Exchange(policy.Draw(g.cfg.Entropy)), token: about.ID,
		wait: wait, repeatAt: now.Add(wait), until: now.Add(g.questions(1)),
	}
	q.silent[0] = holder
	for i, id := range about.Trail() {
		if id != g.cfg.Self && id != holder {
			q.silent[1+i] = id
		}
	}
	return g.askSilent(about, out)
}

// AskOthers asks all other members, too, when a guardian's question begins and before it ends: one of them may hold
// this token or another one, of which this member has not heard. In a large fleet it asks only the members after those
// asked before, and only if this member hears no other: then any answer is what it looks for. It must be called after
// each Wake.
func (g *Machine) AskOthers(members []wire.MemberID, held *Token, out []policy.Effect) []policy.Effect {
	q := &g.question
	if len(members) > MostAsked && !g.hearsNobody() {
		q.spreads, q.later = false, false
	}
	if !q.spreads {
		return out
	}
	g.cfg.Marks.Hit(markAskedOthers)
	about := g.asksAbout(held)
	trail, holder := about.Trail(), q.silent[0]
	members = members[min(int(g.askFrom), len(members)):]
	q.more = len(members) > MostAsked
	q.all, q.spreads, q.missing = true, false, 0
	for i := range members[:min(len(members), MostAsked)] {
		if id := members[i]; id != g.cfg.Self && id != holder && id != q.unasked && !trail.Has(id) {
			q.missing ^= mark(&id)
			out = g.askOne(id, about, out)
		}
	}
	return out
}

// hearsNobody reports whether this member asks because no other has answered it: as a holder that was not away, or
// after it has given its token up.
func (g *Machine) hearsNobody() bool { return g.question.first || g.watch.own && !g.question.byHolder }

// asksAbout returns the token of the open question.
func (g *Machine) asksAbout(held *Token) *Token {
	if g.question.byHolder {
		return held
	}
	return &g.watch.token
}

// mark is a number for a member. Sums of marks of different members differ.
func mark(id *wire.MemberID) uint64 {
	h := binary.BigEndian.Uint64(id[:])
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	return h ^ h>>27
}

// askSilent sends the question to the members that have not answered.
func (g *Machine) askSilent(about *Token, out []policy.Effect) []policy.Effect {
	for _, to := range g.question.silent {
		if !to.IsZero() {
			out = g.askOne(to, about, out)
		}
	}
	return out
}

func (g *Machine) askOne(to wire.MemberID, about *Token, out []policy.Effect) []policy.Effect {
	out, m := g.send(KindAsk, to, about, out)
	m.Exchange = g.question.id
	return out
}

// wakeQuestion repeats the question, and concludes at its end. A member that was away while answers may have come asks
// again.
func (g *Machine) wakeQuestion(now policy.Time, held *Token, end *Outcome, out []policy.Effect) []policy.Effect {
	q := &g.question
	switch {
	case now >= q.until.Add(g.cfg.Patience/heartbeatsPerPatience) || g.silentSinceAsked(now):
		g.cfg.Marks.Hit(markAskedAgain)
		if q.byHolder {
			return g.Doubt(now, held, out)
		}
		return g.suspect(now, out)
	case now >= q.until:
		g.conclude(now, end)
	case now >= q.repeatAt:
		q.wait = min((g.questions(1)+repeats-1)/repeats, g.cfg.Patience/questionsPerPatience)
		q.repeatAt = now.Add(q.wait)
		out = g.askSilent(g.asksAbout(held), out)
		q.spreads = q.later || q.all && q.repeatAt >= q.until
		q.later = false
	}
	return out
}

// silentSinceAsked reports whether a holder has not repeated its question for so long that its guardians may suspect
// it. In a slow network the question may still be open then.
func (g *Machine) silentSinceAsked(now policy.Time) bool {
	q := &g.question
	askedAt := q.repeatAt.Add(-q.wait)
	return q.byHolder && now >= askedAt.Add(g.cfg.Patience)
}

// answered records that a member has no news. It concludes if that was the last answer, or if the first is enough.
// Answers that are read after the end of the question may be outdated: the member was away, and asks again.
func (g *Machine) answered(now policy.Time, by wire.MemberID, end *Outcome) {
	q := &g.question
	q.answered = true
	if place := q.place(by); place >= 0 {
		q.silent[place] = wire.MemberID{}
	} else {
		q.missing ^= mark(&by)
	}
	if now < q.until && !g.silentSinceAsked(now) && (q.first || q.complete()) {
		g.cfg.Marks.Hit(markAllAnswered)
		g.conclude(now, end)
	}
}

// complete reports whether all have answered.
func (q *question) complete() bool {
	return q.silent == [len(q.silent)]wire.MemberID{} && !q.later && (!q.all || q.missing == 0)
}

// conclude ends a question without news of a holder. A guardian revives the token; a holder continues. A member that
// gave up the token because it heard no other takes it back only if a member has answered.
func (g *Machine) conclude(now policy.Time, end *Outcome) {
	q := g.question
	if g.askFrom += MostAsked; q.answered || !q.more {
		g.askFrom = 0
	}
	g.question = question{}
	switch {
	case q.first && q.answered:
		end.Ending = Answered
	case q.byHolder:
		end.Ending = Sure
	case g.watch.own && !q.answered:
		g.watch.suspectAt = now.Add(g.tellsAgainAfter())
	default:
		g.revive(end)
	}
}

// onAnswer handles the answer of a member that does not hold the token. If it knows more than this member, the token
// has moved on.
func (g *Machine) onAnswer(now policy.Time, m *wire.Message, end *Outcome) {
	switch {
	case g.knowsBetter(m):
		g.cfg.Marks.Hit(markAnswerLater)
		g.learnOf(now, m, wire.MemberID{})
	case m.Kind == KindHeard && g.letsGoFirst(m):
		g.cfg.Marks.Hit(markReassured)
		g.watch.reassured = true
		g.calm(now, g.questions(1))
	default:
		g.answered(now, m.From, end)
	}
}

// letsGoFirst reports whether this member waits for another guardian, which heard the holder recently or has a lower
// rank.
func (g *Machine) letsGoFirst(m *wire.Message) bool {
	// The rank is taken from the sender's copy: if the two copies disagree on the ranks, the members must not both wait
	// for each other.
	theirs := TrailOf(&m.Load)
	rank, ok := theirs.Rank(m.From)
	before := ok && (rank < g.rank() || rank == g.rank() && m.From.Compare(g.cfg.Self) < 0)
	if g.quiet && g.watch.yielded {
		return before // That the other one has just heard the holder is no news: that holder holds nothing any more.
	}
	recently := g.cfg.Patience
	if g.quiet {
		recently -= recently / (2 * heartbeatsPerPatience) // The same heartbeat, on another way, is no news.
	}
	return before || g.watch.own || m.Nonce < wire.Nonce(recently)
}

// knowsBetter reports whether an answer has news: a copy with a higher number; or, if this member knows the copy only
// by a sighting, that the holder has chosen other guardians.
func (g *Machine) knowsBetter(m *wire.Message) bool {
	w := &g.watch
	return w.isBehind(&m.Token) || w.holder.IsZero() && !w.own && m.Token.Seq == w.token.Seq && !g.isIn(&m.Load)
}
