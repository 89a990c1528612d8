// Package soft has what the soft gates have in common, however their tokens go: wander, where the token goes round, and
// call, where it comes when it is called.
//
//	schedule.go  when a run is due: interval, retry, windows, readiness, callers, pause
//	elsewhere.go what the other slots of a member do
//	numbers.go   fencing numbers and stamps, and impossible ones
//	memo.go      what a member saves of its last run
//	onlost.go    what becomes of a run whose token has another holder
//
// Each component keeps its state and its rules, and knows only what it is given.
//
// Its decisions, in docs/decisions: 094.
package soft

import (
	"time"

	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/window"
)

// Terms are what a schedule knows of its gate.
type Terms struct {
	// Slot is the slot of the token.
	Slot uint8
	// OnDemand is true if the gate has no operation of its own.
	OnDemand bool
	// Skip, MinInterval and RetryAfter are settings of the gate, and so are Windows.
	Skip, MinInterval, RetryAfter time.Duration
	Windows                       *window.Set
}

// pace is how often a member of the gate runs its operation.
func (t Terms) pace() pace.Pace {
	return pace.Pace{MinInterval: t.MinInterval, RetryAfter: t.RetryAfter}
}
