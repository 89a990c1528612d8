package study

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"text/template"

	"github.com/wanderd/wanderd/sim/report"
)

// Experiment is a question to the simulator.
type Experiment struct {
	// Name is its name on the command line.
	Name string `json:"name"`
	// Title is its subject, and Source its place in the paper. Shows is a sentence or two on what to look for. Against
	// is what the verdict of a [Result] judges. A page has these texts, see [Written]; an experiment without a page has
	// none.
	Title   string `json:"title"`
	Source  string `json:"source"`
	Shows   string `json:"-"`
	Against string `json:"-"`
	words   *template.Template
	// Given are the figures in its texts that are known before it runs.
	Given Figures `json:"-"`
	// Do carries out the runs. If ctx is cancelled, it returns the result of the finished runs, and ctx's error.
	Do func(ctx context.Context, o Options) (Result, error) `json:"-"`
}

// Result is the result of an experiment.
type Result struct {
	Experiment
	// Verdict judges in a few words what Against names. The page has this text.
	Verdict string `json:"verdict"`
	// Runs is the number of finished runs, and Wanted the number of all runs. Fewer finish only if the experiment is
	// stopped.
	Runs   int `json:"runs"`
	Wanted int `json:"runs_wanted"`
	// Comparisons are published and measured figures side by side: measured is the mean over the seeds, with its 95 %
	// confidence interval. Tables have everything else.
	Comparisons []report.Comparison `json:"comparisons"`
	Tables      []report.Table      `json:"tables"`
	Plots       []Plot              `json:"-"`
	// Points are the numbers in the plots, one in each row. Only JSON has them, after the comparisons.
	Points []report.Comparison `json:"-"`
	// Notes tell in sentences which numbers are reproduced and which are not, and why, if that is known. The page has
	// these texts, too.
	Notes []string `json:"notes"`
	// Figures are the figures in the texts that are known after the runs.
	Figures Figures `json:"-"`
}

// MarshalJSON writes the numbers and the notes. Of plots it writes the points. A missing number is null.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	r.Comparisons = slices.Concat(r.Comparisons, r.Points)
	return json.Marshal(plain(r))
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
	if e.words != nil {
		if err := r.say(); err != nil {
			return r, err
		}
	}
	if err != nil {
		return r, fmt.Errorf("%s was stopped after %d of %d runs: %w", e.Name, r.Runs, r.Wanted, err)
	}
	return r, nil
}
