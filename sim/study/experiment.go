package study

import (
	"context"
	"fmt"

	"github.com/wanderd/wanderd/sim/study/report"
)

// Experiment is a question that is answered by runs of the simulator.
type Experiment struct {
	// Name is what a user calls it.
	Name string
	// Title says what it is about, Source where in the paper that stands, Shows in a sentence or two what is to be seen.
	Title, Source, Shows string
	// Against is what the verdict of a [Result] judges, as "Published numbers".
	Against string
	// Do does the runs. Where ctx is cancelled, it returns what the runs say that were over by then, with ctx's error.
	Do func(ctx context.Context, o Options) (Result, error)
}

// Result is what an experiment led to.
type Result struct {
	Experiment Experiment
	// Verdict says in a few words what became of what the experiment is judged against.
	Verdict string
	// Runs is how many runs it rests on, Wanted how many it was to be: fewer only where it was stopped.
	Runs, Wanted int
	// Comparisons are published and measured side by side: measured is the mean over the seeds, with its 95 % confidence
	// interval. Tables are what there is besides.
	Comparisons []report.Comparison
	Tables      []report.Table
	Plots       []Plot
	// Points are the numbers that the plots draw, one a row. Only JSON has them, after the comparisons.
	Points []report.Comparison
	// Notes say, in sentences, what comes out and what does not, and why as far as that is known.
	Notes []string
}

// Plot is a chart with a name for its file.
type Plot struct {
	Name  string
	Chart report.Chart
}

// Run runs the experiment. Where ctx is cancelled, the result is what the runs say that were over by then, and comes with
// ctx's error. The same options give the same result, on any number of cores.
func (e Experiment) Run(ctx context.Context, o Options) (Result, error) {
	r, err := e.Do(ctx, o)
	r.Experiment = e
	if err != nil {
		return r, fmt.Errorf("%s was stopped after %d of %d runs: %w", e.Name, r.Runs, r.Wanted, err)
	}
	return r, nil
}
