package strict

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/wire"
)

// due is what this member has to run, and when. In a gate with an operation of its own, the member wants to run when
// the operation is due: min_interval after its last start, or retry_after after a failure. Start and failure are
// durable. In such a gate min_interval does not apply to callers; in a gate on demand it does. Outside of the gate's
// windows no member wants to run, and the holder passes the token on.
type due struct {
	onDemand bool
	// wanted is true while a caller waits. told is true if the ring or tree knows that this member waits.
	wanted, told bool
	turns        pace.Turns
	// paused is true while an operator has paused the gate.
	paused bool
	// unready is true while the host has not reported that it is ready for a run of its own operation, and heldUp while
	// no run may start at all.
	unready, heldUp bool
	hasRun          bool
	lastRun         policy.Time
	repeat          pace.Repeat
	// notBefore is the earliest time of the next try after a start that could not be recorded, or while another member
	// has claimed the interval.
	notBefore policy.Time
	// takenBy and takenUntil are of the claim of another member that has put off a run here; zero if none has.
	takenBy    wire.MemberID
	takenUntil policy.Time
	// resumedAt is when an operator has last ended all claims, by this member's clock; zero if none has.
	resumedAt policy.Time
	// looksAt is the time from which the passing of time alone may make this member want to run.
	looksAt policy.Time
}

func (g *Machine) pace() pace.Pace {
	return pace.Pace{MinInterval: g.set.MinInterval, RetryAfter: g.set.RetryAfter}
}

// ownAt is when the interval after the last run is over.
func (g *Machine) ownAt() policy.Time {
	at := g.due.notBefore
	if g.due.hasRun {
		at = max(at, g.due.lastRun.Add(g.pace().Interval(g.due.repeat)))
	}
	return at
}

// operates reports whether this member's own operation is due.
func (g *Machine) operates(now policy.Time) bool {
	return !g.due.onDemand && !g.due.unready && now >= g.ownAt()
}

func (g *Machine) isOpen(now policy.Time) bool { return g.calendar.Opens(now) == now }

// wants reports whether this member is to run.
func (g *Machine) wants(now policy.Time) bool {
	d := &g.due
	due := g.operates(now) || d.wanted && (!d.onDemand || now >= g.ownAt())
	return due && !g.leaving && !d.paused && !d.heldUp && now >= g.b.Overlong() && g.isOpen(now)
}

// counts reports whether a run now counts for min_interval; demanded is true if it serves a caller in a gate with an
// operation of its own.
func (g *Machine) counts(now policy.Time) (counts, demanded bool) {
	operates := g.operates(now)
	demanded = !g.due.onDemand && (!operates || g.due.wanted && g.due.turns.Callers(operates))
	return !demanded && g.set.MinInterval > 0, demanded
}

// lookAgain is how long a member that waits for a window relies on the wall clock, because that clock may be set.
const lookAgain = time.Minute

// dueAt is the time from which the passing of time alone may make this member want to run. It is Never if the member
// already wants to run, or if only a caller can make it want to.
func (g *Machine) dueAt(now policy.Time) policy.Time {
	if g.due.told || g.turn.state != absent || g.leaving || g.due.paused || g.due.heldUp ||
		(g.due.onDemand || g.due.unready) && !g.due.wanted {
		return policy.Never
	}
	at := g.ownAt()
	if g.due.wanted && !g.due.onDemand {
		at = now
	}
	at = max(at, g.b.Overlong())
	if g.calendar.Windows == nil {
		return at
	}
	return min(g.calendar.Opens(max(at, now)), max(at, now.Add(lookAgain)))
}

// conclude decides after a run when the next one is due. Only the caller repeats a caller's command.
func (g *Machine) conclude(now policy.Time, ended *turn, o policy.Outcome, out []policy.Effect) []policy.Effect {
	d := &g.due
	if d.onDemand || ended.demanded {
		return out
	}
	before := d.repeat
	d.repeat = g.pace().After(before, d.lastRun, now, o)
	if note := g.pace().NoteOf(o); note != 0 {
		out = policy.AppendTell(out, note, wire.MemberID{}, &ended.token)
	}
	if d.repeat == before {
		return out
	}
	return policy.AppendSave(out, g.state())
}

// The memo, behind the ballot's memo:
//
//	| wait, 8 bytes | failures |
const (
	waitAt     = ballot.MemoSize
	failuresAt = waitAt + 8
)

func remember(r pace.Repeat, to *policy.Memo) {
	binary.BigEndian.PutUint64(to[waitAt:], uint64(r.Wait))
	to[failuresAt] = r.Failures
}

func remembered(from *policy.Memo) pace.Repeat {
	return pace.Repeat{Wait: time.Duration(binary.BigEndian.Uint64(from[waitAt:])), Failures: from[failuresAt]}
}

// SetReady implements [policy.Askable]. A member that is not ready counts as not due: if its turn has come, the token
// goes on.
func (g *Machine) SetReady(own, callers bool) {
	g.due.unready, g.due.heldUp = !own || !callers, !callers
}

// DueAt implements [policy.Askable].
func (g *Machine) DueAt(now policy.Time) policy.Time {
	if g.barred != "" || g.leaving || g.due.paused || g.due.onDemand {
		return policy.Never
	}
	return g.calendar.Opens(max(now, g.ownAt()))
}

// tell tells the ring or tree whether this member waits.
func (g *Machine) tell(now policy.Instant, wants bool, out []policy.Effect) []policy.Effect {
	g.due.told = wants
	g.event.Kind = policy.Unwanted
	if wants {
		g.event.Kind = policy.Wanted
	}
	return g.inside(now, &g.event, out)
}
