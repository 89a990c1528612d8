package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/wanderd/wanderd/sim/report"
)

// Experiment is a table, a figure or a claim of the paper.
type Experiment struct {
	// Name is what a user calls it.
	Name string
	// Title says what it is about, Source where in the paper it stands, Shows in a sentence or two what is to be seen.
	Title, Source, Shows string
	// Published is what the paper says, with nothing measured beside it yet.
	Published []report.Comparison

	run func(ctx context.Context, o Options) (Result, error)
}

// Result is what an experiment led to.
type Result struct {
	Experiment Experiment
	// Verdict says in a few words what became of the published numbers.
	Verdict string
	// Runs is how many runs it rests on, Wanted how many it was to be: fewer only where it was stopped.
	Runs, Wanted int
	// Comparisons are published and measured side by side: measured is the mean over the seeds, with its 95 % confidence
	// interval. Tables are what there is besides.
	Comparisons []report.Comparison
	Tables      []report.Table
	Plots       []Plot
	// Notes say, in sentences, what is reproduced and what is not, and why as far as that is known.
	Notes []string
}

// Plot is a chart with a name for its file.
type Plot struct {
	Name  string
	Chart report.Chart
}

// List returns all experiments, in the order of the paper.
func List() []Experiment {
	return []Experiment{
		randomAccess(), wanderStable(), wanderIntervals(), wanderLoss(), wanderBurst(), wanderBackbone(), wanderVariants(),
	}
}

// ErrUnknown is the error of [Find] for a name that no experiment has.
var ErrUnknown = errors.New("no such experiment")

// Find returns the experiment of that name. The error, an [ErrUnknown], gives all names and says which is the nearest.
func Find(name string) (Experiment, error) {
	var names []string
	nearest, least := "", math.MaxInt
	for _, e := range List() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
		if d := distance(name, e.Name); d < least {
			nearest, least = e.Name, d
		}
	}
	return Experiment{}, fmt.Errorf("%w %q: did you mean %q? There are %s", ErrUnknown, name, nearest, strings.Join(names, ", "))
}

// distance counts the letters to insert at any place of a, or to take out of it, to make b: the length of what they do not
// have in common. It forgives a name that lacks a part, as "stable" does of "wander-stable".
func distance(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for i := range a {
		above, row = row, above
		for j := range b {
			row[j+1] = max(above[j+1], row[j])
			if a[i] == b[j] {
				row[j+1] = above[j] + 1
			}
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

// Run runs the experiment. Where ctx is cancelled, the result is what the runs say that were over by then, and comes with
// ctx's error. The same options give the same result, on any number of cores.
func (e Experiment) Run(ctx context.Context, o Options) (Result, error) {
	r, err := e.run(ctx, o)
	r.Experiment = e
	if err != nil {
		return r, fmt.Errorf("%s was stopped after %d of %d runs: %w", e.Name, r.Runs, r.Wanted, err)
	}
	return r, nil
}
