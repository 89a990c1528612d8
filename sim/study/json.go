package study

import (
	"encoding/json"
	"slices"

	"github.com/wanderd/wanderd/sim/measure"
)

// MarshalJSON writes the numbers and what is said of them. Plots are left out, but for their points. What does not exist is null.
func (r Result) MarshalJSON() ([]byte, error) {
	type row struct {
		Label     string         `json:"label"`
		Published measure.Number `json:"published"`
		Measured  measure.Number `json:"measured"`
		Half      measure.Number `json:"half"`
	}
	type comparison struct {
		Title string   `json:"title"`
		What  string   `json:"what"`
		Unit  string   `json:"unit"`
		Rows  []row    `json:"rows"`
		Notes []string `json:"notes"`
	}
	type table struct {
		Title  string     `json:"title"`
		Header []string   `json:"header"`
		Rows   [][]string `json:"rows"`
		Notes  []string   `json:"notes"`
	}
	out := struct {
		Name        string       `json:"name"`
		Title       string       `json:"title"`
		Source      string       `json:"source"`
		Verdict     string       `json:"verdict"`
		Runs        int          `json:"runs"`
		Wanted      int          `json:"runs_wanted"`
		Comparisons []comparison `json:"comparisons"`
		Tables      []table      `json:"tables"`
		Notes       []string     `json:"notes"`
	}{
		Name: r.Experiment.Name, Title: r.Experiment.Title, Source: r.Experiment.Source, Verdict: r.Verdict,
		Runs: r.Runs, Wanted: r.Wanted, Notes: r.Notes,
	}
	for _, c := range slices.Concat(r.Comparisons, r.Points) {
		to := comparison{Title: c.Title, What: c.What, Unit: c.Unit, Notes: c.Notes}
		for _, from := range c.Rows {
			to.Rows = append(to.Rows, row{
				from.Label, measure.Number(from.Published), measure.Number(from.Measured), measure.Number(from.Half),
			})
		}
		out.Comparisons = append(out.Comparisons, to)
	}
	for _, t := range r.Tables {
		out.Tables = append(out.Tables, table{t.Title, t.Header, t.Rows, t.Notes})
	}
	return json.Marshal(out)
}
