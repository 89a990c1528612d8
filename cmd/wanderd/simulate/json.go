package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/study/report"
)

// document is a result as JSON: the figures of one run, or the means and confidence intervals of many.
type document[T any] struct {
	Scenario scenario.Parameters `json:"scenario"`
	// Runs is how many runs the figures come from; Stopped says that a signal ended them early.
	Runs    int  `json:"runs"`
	Stopped bool `json:"stopped"`
	// TooShort and Lap are those of the [Result].
	TooShort string  `json:"too_short,omitempty"`
	Lap      float64 `json:"lap_s,omitempty"`
	measure.Set[T]
}

// document returns the result as a document.
func (r *Result) document() any {
	if r.Scenario.Seeds == 1 {
		return document[measure.Number]{r.Scenario, len(r.Runs), r.Stopped(), r.TooShort, r.Lap.Seconds(), r.Runs[0]}
	}
	return document[measure.Estimate]{r.Scenario, len(r.Runs), r.Stopped(), r.TooShort, r.Lap.Seconds(), measure.Across(r.Runs)}
}

// WriteJSON writes the result as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error { return report.WriteJSON(w, r.document()) }

// WriteCSV writes a line for each number. Its name is the path in JSON, with dots: "interval_s.p50,812".
func (r *Result) WriteCSV(w io.Writer) error { return writeCSV(w, r.document()) }

func writeCSV(w io.Writer, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	t := report.Table{Header: []string{"figure", "value"}}
	if err := flatten(d, nil, &t); err != nil {
		return err
	}
	_, err = io.WriteString(w, t.Render(report.CSV))
	return err
}

// flatten adds a row for each value in the next object or value.
func flatten(d *json.Decoder, path []string, t *report.Table) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		value, err := flat(d, token)
		t.Rows = append(t.Rows, []string{strings.Join(path, "."), value})
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := flatten(d, append(path, fmt.Sprint(key)), t); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// flat returns a value that begins with a token; those of a list follow each other with spaces.
func flat(d *json.Decoder, token json.Token) (string, error) {
	switch token {
	case nil:
		return "", nil
	case json.Delim('['):
		var values []string
		for d.More() {
			value, err := d.Token()
			if err != nil {
				return "", err
			}
			values = append(values, fmt.Sprint(value))
		}
		_, err := d.Token()
		return strings.Join(values, " "), err
	}
	return fmt.Sprint(token), nil
}
