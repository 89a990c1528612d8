package hunt

import (
	"fmt"

	"github.com/wanderd/wanderd/sim/trace"
)

// traceLines is how many lines of a failing run's trace are shown.
const traceLines = 50

// Failure is a seed that leads to a broken rule. It is an error.
type Failure struct {
	Seed uint64
	// World is the number of the world in a guided hunt from that seed, from 1; zero in any other hunt. Scenario is
	// that world, as a file has it.
	World    uint64
	Scenario string
	// Parameters are the parameters that the seed draws, one a line.
	Parameters string
	// Err is the broken rule, and how it was broken.
	Err error
	// Trace is the end of the run's trace: its last 50 lines.
	Trace string
	// Replay and Whole are the commands that run this seed again, and that trace the whole run.
	Replay, Whole string
	// Smaller returns a scenario that breaks the same rule, made as small as it can be, as a file has it. That takes
	// some seconds. It is nil if the subject's scenarios cannot be written.
	Smaller func() string
}

// newFailure runs a seed again, with a trace.
func newFailure(f *Subject, seed uint64, err error) *Failure {
	tail := trace.NewTail(traceLines)
	f.Explore(seed, trace.NewTrace(tail, f.Words))
	failure := &Failure{
		Seed: seed, Parameters: f.parameters(seed), Err: err, Trace: tail.String(),
		Replay: fmt.Sprintf("wanderd sim hunt%s --seed %d --seeds 1", f.flags, seed),
		Whole:  fmt.Sprintf("wanderd sim trace%s --seed %d", f.flags, seed),
	}
	if f.smaller != nil {
		failure.Smaller = func() string { return f.smaller(seed) }
	}
	return failure
}

// Error returns one line: the seed and the rule.
func (f *Failure) Error() string {
	if f.World > 0 {
		return fmt.Sprintf("seed %d, world %d: %v", f.Seed, f.World, f.Err)
	}
	return fmt.Sprintf("seed %d: %v", f.Seed, f.Err)
}

// Unwrap returns the rule that was broken.
func (f *Failure) Unwrap() error { return f.Err }

// String returns everything that is known: the rule, every parameter, the end of the trace, and how to see it again.
func (f *Failure) String() string {
	text := fmt.Sprintf("%v\n\n%s\n%s\nreplay:  %s\n", f.Error(), f.Parameters, f.Trace, f.Replay)
	if f.Whole != "" {
		text += fmt.Sprintf("trace:   %s\n", f.Whole)
	}
	return text
}
