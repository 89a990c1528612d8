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
func (f *Failure) Error() string { return fmt.Sprintf("seed %d: %v", f.Seed, f.Err) }

// Unwrap returns the rule that was broken.
func (f *Failure) Unwrap() error { return f.Err }

// String returns everything that is known: the rule, every parameter, the end of the trace, and how to see it again.
func (f *Failure) String() string {
	return fmt.Sprintf("%v\n\n%s\n%s\nreplay:  %s\ntrace:   %s\n", f.Error(), f.Parameters, f.Trace, f.Replay, f.Whole)
}
