package hunt

import (
	"fmt"

	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/tell"
)

// traceLines is how much of a failing run is shown.
const traceLines = 50

// Failure is a seed that leads to a broken rule. It is an error.
type Failure struct {
	Scenario wandering.Scenario
	// Err says which rule was broken, and how.
	Err error
	// Trace is the end of the run's story: its last 50 lines.
	Trace string
	// Replay and Story are the commands that run this seed again, and that tell its whole story.
	Replay, Story string
}

// newFailure runs a seed again, with a trace.
func newFailure(seed uint64, err error, explore func(*wandering.Scenario, ...sim.Watcher) wandering.Outcome) *Failure {
	tail := tell.NewTail(traceLines)
	s := wandering.Draw(seed)
	explore(&s, tell.NewTrace(tail, wandering.Words()))
	return &Failure{
		Scenario: s, Err: err, Trace: tail.String(),
		Replay: fmt.Sprintf("wanderd sim hunt --seed %d --seeds 1", seed),
		Story:  fmt.Sprintf("wanderd sim trace --seed %d", seed),
	}
}

// Error returns one line: the seed and the rule.
func (f *Failure) Error() string { return fmt.Sprintf("seed %d: %v", f.Scenario.Seed, f.Err) }

// Unwrap returns the rule that was broken.
func (f *Failure) Unwrap() error { return f.Err }

// String returns all that is known: the rule, every parameter, the end of the story, and how to see it again.
func (f *Failure) String() string {
	return fmt.Sprintf("%v\n\n%v\n%s\nreplay:  %s\nstory:   %s\n", f.Error(), &f.Scenario, f.Trace, f.Replay, f.Story)
}
