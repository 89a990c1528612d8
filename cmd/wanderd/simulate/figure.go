package simulate

import (
	"context"
	"io"
	"strings"

	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study/report"
)

// Figure is one number of a run.
type Figure struct {
	// Name is its path in JSON, with dots: "obtaining_s.p50". Label is for people.
	Name, Label string
	// Value is not a number if there is none.
	Value float64
}

// Figures are the numbers of the runs of a scenario, for policies that have nothing but numbers.
type Figures struct {
	Scenario scenario.Parameters
	// Runs are the complete runs, in the order of their seeds, each with the same figures. If there is none, they are the ones that
	// were stopped.
	Runs [][]Figure
	// Complete is how many of the scenario's seeds are complete.
	Complete int
}

// Numbers runs a scenario of another policy than the wandering token's, as [Run] does.
func Numbers(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*Figures, error) {
	runs, complete, err := across(ctx, p, progress, map[string]func(context.Context, scenario.Parameters, func(share float64)) (*[]Figure, error){
		scenario.PolicyRing: ring, scenario.PolicyTree: tree, scenario.PolicyTermination: termination, scenario.PolicyElection: election,
	}[p.Policy])
	return &Figures{p, runs, complete}, err
}

// estimates are the means of the runs, figure by figure.
func (f *Figures) estimates() []measure.Estimate {
	all := make([]measure.Estimate, len(f.Runs[0]))
	for k := range all {
		samples := make([]measure.Number, len(f.Runs))
		for i, run := range f.Runs {
			samples[i] = measure.Number(run[k].Value)
		}
		all[k] = measure.EstimateOf(samples...)
	}
	return all
}

// document returns the result as a document: the figures of one run, or the means and confidence intervals of many.
func (f *Figures) document() any {
	d := map[string]any{"scenario": f.Scenario, "runs": len(f.Runs), "stopped": f.Complete < f.Scenario.Seeds}
	for k, estimate := range f.estimates() {
		object, name := d, f.Runs[0][k].Name
		if group, inner, nested := strings.Cut(name, "."); nested {
			if d[group] == nil {
				d[group] = map[string]any{}
			}
			object, name = d[group].(map[string]any), inner
		}
		if object[name] = estimate; f.Scenario.Seeds == 1 {
			object[name] = measure.Number(f.Runs[0][k].Value)
		}
	}
	return d
}

// WriteJSON writes the result as one JSON object.
func (f *Figures) WriteJSON(w io.Writer) error { return report.WriteJSON(w, f.document()) }

// WriteCSV writes a line for each number: "obtaining_s.p50,812".
func (f *Figures) WriteCSV(w io.Writer) error { return writeCSV(w, f.document()) }

// WriteTables writes the result for people. For many runs it writes means, and half the widths of their confidence intervals.
func (f *Figures) WriteTables(w io.Writer, format report.Format) error {
	t := report.Table{Title: title(&f.Scenario, f.Complete), Header: []string{"figure", "value"}}
	many := f.Scenario.Seeds > 1
	if many {
		t.Header = append(t.Header, "± 95 %")
	}
	for k, e := range f.estimates() {
		row := []string{f.Runs[0][k].Label, report.Number(float64(e.Mean))}
		if many {
			row = append(row, report.Number(float64(e.Half)))
		}
		t.Rows = append(t.Rows, row)
	}
	_, err := io.WriteString(w, t.Render(format))
	return err
}
