package study

import (
	"encoding/json"
	"slices"

	"github.com/wanderd/wanderd/sim/study/report"
)

// MarshalJSON writes the numbers and the notes. Of plots it writes the points. A missing number is null.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name        string              `json:"name"`
		Title       string              `json:"title"`
		Source      string              `json:"source"`
		Verdict     string              `json:"verdict"`
		Runs        int                 `json:"runs"`
		Wanted      int                 `json:"runs_wanted"`
		Comparisons []report.Comparison `json:"comparisons"`
		Tables      []report.Table      `json:"tables"`
		Notes       []string            `json:"notes"`
	}{
		r.Experiment.Name, r.Experiment.Title, r.Experiment.Source, r.Verdict, r.Runs, r.Wanted,
		slices.Concat(r.Comparisons, r.Points), r.Tables, r.Notes,
	})
}
