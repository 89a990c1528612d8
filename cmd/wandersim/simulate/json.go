package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// document is a result as JSON: the figures of one run, or the means and confidence intervals of many.
type document[T any] struct {
	Scenario scenario.Parameters `json:"scenario"`
	// Runs is how many runs the figures come from; Stopped is true if a signal ended them early.
	Runs    int  `json:"runs"`
	Stopped bool `json:"stopped"`
	// TooShort and Lap are as in the [Result].
	TooShort string  `json:"too_short,omitempty"`
	Lap      float64 `json:"lap_s,omitempty"`
	measure.Set[T]
}

// Document implements [Outcome].
func (r *Result) Document() any {
	if r.Scenario.Seeds == 1 {
		return document[measure.Number]{r.Scenario, len(r.Runs), r.Stopped(), r.TooShort, r.Lap.Seconds(), r.Runs[0]}
	}
	return document[measure.Estimate]{
		r.Scenario, len(r.Runs), r.Stopped(), r.TooShort, r.Lap.Seconds(), measure.Across(r.Runs),
	}
}

// WriteCSV writes a line for each number of a document. Its name is the path in JSON, with dots: "interval_s.p50,812".
func WriteCSV(w io.Writer, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	t := report.Table{Header: []string{"figure", "value"}}
	flatten(d, nil, &t)
	_, err = io.WriteString(w, t.Render(report.CSV))
	return err
}

// flatten adds a row for each value in the next object or value; it joins the values of a list with spaces. Package
// json has written what d reads, so there are no errors.
func flatten(d *json.Decoder, path []string, t *report.Table) {
	token, _ := d.Token()
	value := ""
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, _ := d.Token()
			flatten(d, append(path, fmt.Sprint(key)), t)
		}
		_, _ = d.Token()
		return
	case json.Delim('['):
		var values []string
		for d.More() {
			value, _ := d.Token()
			values = append(values, fmt.Sprint(value))
		}
		_, _ = d.Token()
		value = strings.Join(values, " ")
	case nil:
	default:
		value = fmt.Sprint(token)
	}
	t.Rows = append(t.Rows, []string{strings.Join(path, "."), value})
}
