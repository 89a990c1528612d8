// Package ready decides when a host is asked whether a gate's own operation is needed, and for how long its answer
// counts.
//
// The question is asked without the token: no token waits for an answer, and no host that needs no run keeps one. The
// host of a member is asked one timeout before the member will be due. The member is due only after a yes, which lasts
// until the run. An answer counts until the next question is due; then the question is asked again. So a member that
// waits for its turn for hours does not run because of an answer that is hours old. And the repeated question costs it
// nothing, because its last yes counts until the new answer is there.
//
// A member need not remember answers: after a restart its host is asked again.
//
// Its decisions, in docs/decisions: 040.
package ready

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Question is the question to one member of one gate. The zero value has not been asked yet; Timeout and Again may
// change at any time.
type Question struct {
	// Timeout is how long an answer may take. Again is the time from an answer to the next question.
	Timeout, Again time.Duration

	asking, answered, yes bool
	// void is true if the awaited answer is to a question that was asked before a run.
	void bool
	at   policy.Time
}

// Ready reports whether a yes is in force.
func (q *Question) Ready(now policy.Time) bool {
	return q.answered && q.yes && now < q.at.Add(q.Again).Add(q.Timeout)
}

// AskAt is when the host must be asked if its operation is due then. It is Never while an answer is awaited.
func (q *Question) AskAt(due policy.Time) policy.Time {
	if q.asking || due == policy.Never {
		return policy.Never
	}
	at := due.Add(-q.Timeout)
	if q.answered {
		at = max(at, q.at.Add(q.Again))
	}
	return at
}

// Asking reports whether an answer is awaited.
func (q *Question) Asking() bool { return q.asking }

// Ask begins the question.
func (q *Question) Ask() { q.asking = true }

// Answer ends the question: with a yes, or with anything else. It reports whether the answer counts.
func (q *Question) Answer(now policy.Time, yes bool) bool {
	counts := !q.void
	q.asking, q.void = false, false
	if counts {
		q.answered, q.yes, q.at = true, yes, now
	}
	return counts
}

// Used ends the validity of the last answer, and of the next one if it is awaited, because the operation has run.
func (q *Question) Used() { q.answered, q.void = false, q.asking }

// AtOnce lets the next question come as soon as the operation is due, without waiting for Again. A yes stays in force.
func (q *Question) AtOnce() { q.answered = q.answered && q.yes }
