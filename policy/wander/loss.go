package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
)

// loss decides whether the gate has lost its token or has none yet, and so when this member makes one.
type loss struct {
	// silence is the time without a token: see regenerate.go.
	silence silence
	// inquiry is the question to the others before a token is made: see inquire.go and census.go.
	inquiry inquiry
	asker   asker
	// certainty is what is needed to replace a token before the silence is over: see certain.go.
	certainty certainty
	// first is the state of the first token of the fleet: see create.go.
	first firstToken
}

// outlook is what the other components know; loss and passed only read it.
type outlook struct {
	cfg      *Config
	walk     *walker
	measures *measures
	handoff  *handoff.Machine
	guardian *guardian.Machine
	// token is the last token that this member held.
	token *guardian.Token
}

// maxInterval is Δmax.
func (o *outlook) maxInterval() time.Duration { return o.measures.maxInterval(o.cfg, o.walk.Count()) }

// lapAtMost is the longest time that a lap takes.
func (o *outlook) lapAtMost() time.Duration { return o.measures.lapAtMost(o.cfg, o.walk.Count()) }

// answersWithin is how long a member waits for answers before it makes a token.
func (o *outlook) answersWithin() time.Duration { return o.cfg.answersWithin(o.handoff.RoundTrip()) }

// unlessArriving postpones the making of a token while one may be about to arrive. It does so for two patiences,
// because a handoff in progress ends within that time. It does not postpone it further, so a sequence of replayed
// Tokens cannot keep this member waiting.
func (o *outlook) unlessArriving(at policy.Time) policy.Time {
	if !o.handoff.Receiving() {
		return at
	}
	return at.Add(o.handoff.Patience()).Add(o.handoff.Patience())
}

// missing is the token that this member makes.
type missing uint8

const (
	// missingNone: it makes none now.
	missingNone missing = iota
	// missingFirst: it makes the first token.
	missingFirst
	// missingLost: it makes a token in place of a lost one.
	missingLost
	// missingRenewed: it makes a token because an operator reports that there is none.
	missingRenewed
	// missingCertain: it makes a token in place of one that is certainly lost.
	missingCertain
)

// origin is the origin of that token.
func (m missing) origin() origin {
	return [...]origin{
		missingFirst: originFirst, missingLost: originLost, missingRenewed: originRenewed,
		missingCertain: originCertain,
	}[m]
}

// note is the note that is told when it is made.
func (m missing) note() policy.Note {
	return [...]policy.Note{
		missingFirst: NoteCreated, missingLost: NoteRegenerated, missingRenewed: NoteRenewed,
		missingCertain: NoteReplaced,
	}[m]
}

// mark is the mark of that.
func (m missing) mark() marks.Mark {
	return [...]marks.Mark{
		missingFirst: markMakesFirst, missingLost: markMakesLost, missingRenewed: markMakesRenewed,
		missingCertain: markMakesCertain,
	}[m]
}

// wake asks others if the time for that has come, and returns which token this member makes. This member holds none.
func (l *loss) wake(o *outlook, now policy.Instant, out []policy.Effect) (makes missing, effects []policy.Effect) {
	var over bool
	switch {
	case l.first.armed && now.Time >= l.makesFirstAt(o):
		return l.wakeFirst(o, now, out)
	case l.regenerates(o) && now.Time >= l.regenerateAt(o):
		return l.wakeLost(o, now, out)
	case l.seeksCertainty(o, now.Time):
		if over, out = l.inquire(o, now, true, true, out); over {
			if makes = missingCertain; !l.isCertain(o, now.Time) {
				o.cfg.Marks.Hit(markUncertain)
				makes = missingNone
				l.unsure(o, now.Time)
			}
		}
	case l.inquiry.live && now.Time >= l.inquiry.wakeAt():
		o.cfg.Marks.Hit(markAskedInVain)
		l.found() // No answer is needed any more.
	}
	return makes, out
}

// wakeLost asks all whether they miss the token, too, and replaces it if the silence was over when they were asked, as
// this member knows then. Sightings count from the question. So where an answer takes longer than Δgen, a token that
// was seen just before the answer seems to have been away for longer: then all are asked again. The ages of a lost
// token grow meanwhile.
func (l *loss) wakeLost(o *outlook, now policy.Instant, out []policy.Effect) (makes missing, effects []policy.Effect) {
	l.inquiry.certain = false
	must := o.cfg.Backups > 0 && !o.walk.Alone()
	over, out := l.inquire(o, now, must, true, out)
	if !over {
		return missingNone, out
	}
	missed := l.silence.since.Add(l.regenerateAfter(o)).Add(o.cfg.Keep)
	if q := &l.inquiry; q.live && q.askedAt < missed {
		o.cfg.Marks.Hit(markAskedTooEarly)
		l.inquiry = inquiry{}
		_, out = l.inquire(o, now, true, true, out)
		return missingNone, out
	}
	l.raiseRegenerateAfter(o)
	return missingLost, out
}

// makesAt is when a member without a token must ask, ask again, or make one.
func (l *loss) makesAt(o *outlook) policy.Time {
	if l.inquiry.live {
		return l.inquiry.wakeAt()
	}
	at := policy.Never
	if l.regenerates(o) {
		at = l.regenerateAt(o)
		if l.certainty.at != 0 {
			at = min(at, l.certainty.at)
		}
	}
	if l.first.armed {
		at = min(at, l.makesFirstAt(o))
	}
	return at
}

// found ends the question: a token is here.
func (l *loss) found() { l.inquiry, l.certainty.at = inquiry{}, 0 }

// close records that this member leaves.
func (l *loss) close() {
	l.first.closed = true
	l.first.armed = false
}

// slept records that the host was asleep for some time. That time does not count as a silence. The silence before it
// still does; otherwise a fleet whose hosts are all suspended from time to time would wait for its token for ever.
func (l *loss) slept(o *outlook, now policy.Time, slept time.Duration) {
	l.silence.since = min(l.silence.since.Add(slept), now)
	if l.first.armed {
		l.first.since = now
		l.awaitTurn(o, now)
	}
}

// trust resets Δgen to Δmax: silences of this member alone were no false alarms.
func (l *loss) trust() { l.silence.raised = 0 }

// since is when the last token was here, or was seen by another member.
func (l *loss) since() policy.Time { return l.silence.since }

// hasMet reports whether this member has met a token.
func (l *loss) hasMet() bool { return l.first.met }
