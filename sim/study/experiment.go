package study

import (
	"context"
	"fmt"

	"github.com/wanderd/wanderd/sim/study/report"
)

// Experiment is a question to the simulator.
type Experiment struct {
	// Name is its name on the command line.
	Name string
	// Title is its subject, Source its place in the paper, Shows a sentence or two on what to look for.
	Title, Source, Shows string
	// Against names what the verdict of a [Result] judges, such as "Published numbers".
	Against string
	// Do does the runs. If ctx is cancelled, it returns the result of the finished runs, and ctx's error.
	Do func(ctx context.Context, o Options) (Result, error)
}

// Result is the result of an experiment.
type Result struct {
	Experiment Experiment
	// Verdict judges in a few words what Against names.
	Verdict string
	// Runs is the number of finished runs, Wanted that of all; fewer finish only if the experiment is stopped.
	Runs, Wanted int
	// Comparisons are published and measured side by side: measured is the mean over the seeds, with its 95 % confidence
	// interval. Tables have all else.
	Comparisons []report.Comparison
	Tables      []report.Table
	Plots       []Plot
	// Points are the numbers in the plots, one in each row. Only JSON has them, after the comparisons.
	Points []report.Comparison
	// Notes say in sentences which numbers come out and which do not, and why, if that is known.
	Notes []string
}

// Plot is a chart with a name for its file.
type Plot struct {
	Name  string
	Chart report.Chart
}

// Run runs the experiment. If ctx is cancelled, it returns the result of the finished runs, and
// ctx's error. The same options give the same result, on any number of cores.
func (e Experiment) Run(ctx context.Context, o Options) (Result, error) {
	r, err := e.Do(ctx, o)
	r.Experiment = e
	if err != nil {
		return r, fmt.Errorf("%s was stopped after %d of %d runs: %w", e.Name, r.Runs, r.Wanted, err)
	}
	return r, nil
}
