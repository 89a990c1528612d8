// Package pace has the rules, common to all gates, for when a member's operation is due again: min_interval after the
// start of the last run, sooner if that one has failed, and only while a window of the gate is open.
//
//	pace.go       the interval between two runs, and how a failed run changes it
//	turns.go      whether a grant is the operation's or a caller's
//	calendar.go   times of the week in which members may run
//
// Its decisions, in docs/decisions: 038, 039.
package pace

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// The paper of the wandering token knows no failures: a run counts for min_interval whatever it has achieved. Here a
// failed run is repeated after retry_after, and after twice as long for each further failure in a row, but no later
// than min_interval after its start. An operation that reports "not now" has not failed, and is asked again after
// retry_after.
//
// The wait is saved, so a restart neither forgets it nor restarts the count of failures in a row. A run whose end this
// member has not seen, because its process died, counts for min_interval.

// Pace is how often a member runs its operation. Without a RetryAfter, a failed run counts like any other.
type Pace struct{ MinInterval, RetryAfter time.Duration }

// Repeat is what follows a member's last run; the zero value is a next run after min_interval.
type Repeat struct {
	// Wait is the time from the start of that run to the next one, if that is not min_interval; else zero.
	Wait time.Duration
	// Failures is how many runs have failed in a row.
	Failures uint8
}

// Interval returns the time from the start of the last run to the next one.
func (p Pace) Interval(r Repeat) time.Duration {
	if r.Wait > 0 {
		return r.Wait
	}
	return p.MinInterval
}

// After returns what follows a run that began and ended at these times; r is what followed the run before it.
func (p Pace) After(r Repeat, began, ended policy.Time, o policy.Outcome) Repeat {
	if p.RetryAfter == 0 {
		return Repeat{Failures: r.Failures}
	}
	switch o {
	case policy.Failed:
		failures := min(r.Failures, math.MaxUint8-1) + 1
		return Repeat{Wait: p.wait(began, ended, p.backOff(failures)), Failures: failures}
	case policy.NotNow:
		return Repeat{Wait: p.wait(began, ended, p.RetryAfter)}
	case policy.Succeeded:
	}
	return Repeat{}
}

// backOff is the wait after the last of that many failures in a row.
func (p Pace) backOff(failures uint8) time.Duration {
	wait := p.RetryAfter
	for i := uint8(1); i < failures && wait < p.MinInterval; i++ {
		if wait > math.MaxInt64/2 {
			return math.MaxInt64
		}
		wait *= 2
	}
	return wait
}

// wait converts a wait after the end of a run into one after its beginning, at most min_interval.
func (p Pace) wait(began, ended policy.Time, wait time.Duration) time.Duration {
	return min(ended.Add(wait).Sub(began), p.MinInterval)
}

// Held adapts to this pace a repetition that was decided with another pace, or was read from a disk: it drops a wait
// that this pace cannot have.
func (p Pace) Held(r Repeat) Repeat {
	if p.RetryAfter == 0 || r.Wait < 0 || r.Wait > p.MinInterval {
		r.Wait = 0
	}
	return r
}

// The reasons why a member is not due, as clauses that complete "not running because …".
const (
	// WhyTooSoon: the last run was less than min_interval ago.
	WhyTooSoon = "ran less than min_interval ago"
	// WhyFailed: the last run failed, and is repeated later.
	WhyFailed = "the last run failed, and is repeated after retry_after"
	// WhyNotNow: the operation has reported that it cannot do its work now.
	WhyNotNow = "the hook said \"not now\", and is asked again after retry_after"
	// WhyClosed: no window is open.
	WhyClosed = "outside its windows"
)

// Why returns why the interval after the last run is not over.
func (r Repeat) Why() string {
	switch {
	case r.Wait == 0:
		return WhyTooSoon
	case r.Failures > 0:
		return WhyFailed
	}
	return WhyNotNow
}

// Facts appends how many runs have failed in a row.
func (r Repeat) Facts(out []policy.Fact) []policy.Fact {
	if r.Failures > 0 {
		out = append(out, policy.Fact{Key: policy.KeyRetry, Count: int(r.Failures), Text: "failed runs in a row"})
	}
	return out
}

const (
	// NoteFailed: the run under Token has failed, and is repeated after retry_after.
	NoteFailed policy.Note = iota + 112
	// NoteNotNow: under Token, the operation has reported that it cannot do its work now. It is asked again after
	// retry_after.
	NoteNotNow
)

// Notes returns the notes of the pace.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteFailed, Name: "failed", Level: policy.Debug, Text: "the run failed; repeating it after retry_after"},
		{
			Note: NoteNotNow, Name: "not_now", Level: policy.Debug,
			Text: "the hook cannot do its work now; asking it again after retry_after",
		},
	}
}

// NoteOf returns the note about an outcome after which a run is repeated; zero if the run is not repeated.
func (p Pace) NoteOf(o policy.Outcome) policy.Note {
	switch {
	case p.RetryAfter == 0:
	case o == policy.Failed:
		return NoteFailed
	case o == policy.NotNow:
		return NoteNotNow
	}
	return 0
}
