package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// question is one that was asked: by a guardian that suspects the holder, or by a holder that has been away.
type question struct {
	live bool
	// byHolder says that this member holds the token that it asks about, first that it asks only whether it hears anybody, answered that
	// at least one has answered.
	byHolder, first, answered bool
	id                        wire.HandoffID
	token                     wire.TokenID
	// silent are those who have not answered; empty places are zero.
	silent [1 + wire.MaxBackups]wire.MemberID
	// The question is repeated at repeatAt, and over at until.
	repeatAt, until policy.Time
	wait            time.Duration
}

// waitsFor reports whether m is an answer that is still out.
func (q *question) waitsFor(m *wire.Message) bool {
	return q.live && m.Kind != wire.KindAsk && m.Handoff == q.id && m.Token.ID == q.token && q.place(m.From) >= 0
}

func (q *question) place(id wire.MemberID) int {
	for i := range q.silent {
		if q.silent[i] == id && !id.IsZero() {
			return i
		}
	}
	return -1
}

// ask asks the holder, if it is known, and the guardians of a token who holds it.
func (g *Machine) ask(now policy.Time, about *wire.Token, holder wire.MemberID, out []policy.Effect) []policy.Effect {
	wait := g.cfg.Patience / firstRepeat
	q := &g.question
	*q = question{
		live: true, id: wire.HandoffID(policy.Draw(g.cfg.Entropy)), token: about.ID,
		wait: wait, repeatAt: now.Add(wait), until: now.Add(g.questions(1)),
	}
	q.silent[0] = holder
	for i, id := range about.Trail {
		if id != g.cfg.Self && id != holder {
			q.silent[1+i] = id
		}
	}
	return g.askSilent(about, out)
}

// askSilent asks those who have not answered.
func (g *Machine) askSilent(about *wire.Token, out []policy.Effect) []policy.Effect {
	for _, to := range g.question.silent {
		if !to.IsZero() {
			m := g.message(wire.KindAsk, to, about)
			m.Handoff = g.question.id
			out = policy.AppendSend(out, &m)
		}
	}
	return out
}

// wakeQuestion repeats the question, and draws the conclusion when its time is over. Who was away itself while the answers
// may have come asks again.
func (g *Machine) wakeQuestion(now policy.Time, held *wire.Token, out []policy.Effect) (Outcome, []policy.Effect) {
	q := &g.question
	switch {
	case now >= q.until.Add(g.cfg.Patience/beatsPerPatience) || g.silentSinceAsked(now):
		if q.byHolder {
			return Outcome{}, g.Doubt(now, held, out)
		}
		return Outcome{}, g.suspect(now, out)
	case now >= q.until:
		return g.conclude(now), out
	case now >= q.repeatAt:
		q.wait = min(2*q.wait, g.cfg.Patience/questionsPerPatience)
		q.repeatAt = now.Add(q.wait)
		about := &g.watch.token
		if q.byHolder {
			about = held
		}
		out = g.askSilent(about, out)
	}
	return Outcome{}, out
}

// silentSinceAsked reports whether a holder has not come to repeat its question for so long that its guardians may have lost patience:
// where answers take long, it is not over yet.
func (g *Machine) silentSinceAsked(now policy.Time) bool {
	q := &g.question
	askedAt := q.repeatAt.Add(-q.wait)
	return q.byHolder && now >= askedAt.Add(g.cfg.Patience)
}

// answered notes that somebody has nothing to tell, and concludes if it was the last, or the first is enough. What is found when the question is
// over was true some time ago: who was away meanwhile asks again.
func (g *Machine) answered(now policy.Time, by wire.MemberID) Outcome {
	q := &g.question
	q.silent[q.place(by)], q.answered = wire.MemberID{}, true
	if now >= q.until || g.silentSinceAsked(now) || !q.first && q.silent != [len(q.silent)]wire.MemberID{} {
		return Outcome{}
	}
	return g.conclude(now)
}

// conclude: nobody knows of a holder, or of another one. A guardian revives the token; a holder goes on. A member that has given the
// token up because it heard nobody takes it back only if it does hear somebody.
func (g *Machine) conclude(now policy.Time) Outcome {
	byHolder, first, answered := g.question.byHolder, g.question.first, g.question.answered
	g.question = question{}
	switch {
	case first && answered:
		return Outcome{Ending: Answered}
	case byHolder:
		return Outcome{Ending: Sure}
	case g.watch.own && !answered:
		g.watch.suspectAt = now.Add(g.tellsAgainAfter())
		return Outcome{}
	}
	return g.revive()
}

// onHeard: another guardian answers. If it has heard the holder lately, or would revive the token before this one, it is left
// to it for now.
func (g *Machine) onHeard(now policy.Time, m *wire.Message) Outcome {
	if g.knowsBetter(m) {
		g.learn(now, &m.Token, wire.MemberID{})
		return Outcome{}
	}
	// By its own copy: if the two disagree on who is before whom, they must not both wait for the other.
	rank, ok := m.Token.Trail.Rank(m.From)
	before := ok && rank < g.rank()
	if before || g.watch.own || m.Nonce < wire.Nonce(g.cfg.Patience) {
		g.calm(now, g.questions(1))
		return Outcome{}
	}
	return g.answered(now, m.From)
}

// onKnown: somebody who neither holds nor guards the token says what it knows. If that is more than is known here, the token
// has moved on.
func (g *Machine) onKnown(now policy.Time, m *wire.Message) Outcome {
	if g.knowsBetter(m) {
		g.learn(now, &m.Token, wire.MemberID{})
		return Outcome{}
	}
	return g.answered(now, m.From)
}

// knowsBetter reports whether an answer tells more than is known here: of a copy with a higher number; or, where this member
// knows of the copy by hearsay only, that its holder has chosen others to guard it.
func (g *Machine) knowsBetter(m *wire.Message) bool {
	w := &g.watch
	return w.isBehind(&m.Token) || w.holder.IsZero() && !w.own && m.Token.Seq == w.token.Seq && !m.Token.Trail.Has(g.cfg.Self)
}
