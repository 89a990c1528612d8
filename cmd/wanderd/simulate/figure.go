package simulate

import (
	"io"
	"strings"

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

// figures are the outcome of a policy that has nothing but numbers. Each run has the same figures.
type figures struct{ batch[[]Figure] }

// estimates are the means of the runs, figure by figure.
func (f *figures) estimates() []measure.Estimate {
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
func (f *figures) document() any {
	d := map[string]any{"scenario": f.Scenario, "runs": len(f.Runs), "stopped": f.Stopped()}
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

// WriteJSON implements [Outcome].
func (f *figures) WriteJSON(w io.Writer) error { return report.WriteJSON(w, f.document()) }

// WriteCSV implements [Outcome].
func (f *figures) WriteCSV(w io.Writer) error { return writeCSV(w, f.document()) }

// WriteTables implements [Outcome].
func (f *figures) WriteTables(w io.Writer, format report.Format) error {
	t := report.Table{Title: f.title(), Header: []string{"figure", "value"}}
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
