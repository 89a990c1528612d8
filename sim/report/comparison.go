package report

import (
	"encoding/json"
	"math"
	"strings"
)

// Comparison has published figures beside measured ones.
type Comparison struct {
	Title string `json:"title"`
	// What names the rows. Figure and Unit name the numbers, such as "time" and "s".
	What   string     `json:"what"`
	Figure string     `json:"-"`
	Unit   string     `json:"unit"`
	Rows   []Compared `json:"rows"`
	Notes  []string   `json:"notes"`
}

// Compared is one row of a [Comparison]. A missing figure is NaN.
type Compared struct {
	Label               string
	Published, Measured float64
	// Half is half the width of the confidence interval of the measured figure.
	Half float64
}

// Exact returns a row whose measured figure has no confidence interval.
func Exact(label string, published, measured float64) Compared {
	return Compared{Label: label, Published: published, Measured: measured, Half: math.NaN()}
}

// Measured returns such a row without a published figure.
func Measured(label string, value float64) Compared { return Exact(label, math.NaN(), value) }

// MarshalJSON writes null for a missing figure.
func (c Compared) MarshalJSON() ([]byte, error) {
	number := func(v float64) any {
		if math.IsNaN(v) {
			return nil
		}
		return v
	}
	return json.Marshal(struct {
		Label     string `json:"label"`
		Published any    `json:"published"`
		Measured  any    `json:"measured"`
		Half      any    `json:"half"`
	}{c.Label, number(c.Published), number(c.Measured), number(c.Half)})
}

// Table returns the comparison as a table. The difference is measured minus published, and its share is of the
// published figure.
func (c Comparison) Table() Table {
	unit := ""
	if c.Unit != "" {
		unit = ", " + c.Unit
	}
	t := Table{
		Title: c.Title, Notes: c.Notes,
		Header: []string{c.What, "published" + unit, "measured" + unit, "± 95 %", "difference", "in %"},
	}
	for _, r := range c.Rows {
		difference := r.Measured - r.Published
		share := math.NaN()
		if r.Published != 0 {
			share = roundTo(100*difference/math.Abs(r.Published), 3)
		}
		t.Rows = append(t.Rows, []string{
			r.Label, Number(r.Published), Number(r.Measured), Number(r.Half), Signed(difference), Signed(share),
		})
	}
	return t
}

// Chart returns the comparison as bars, published and measured side by side.
func (c Comparison) Chart(logarithmic bool) Chart {
	published, measured := Curve{Name: "published", Published: true}, Curve{Name: "measured"}
	chart := Chart{
		Title: c.Title, X: c.What, Y: strings.Trim(c.Figure+", "+c.Unit, ", "), Logarithmic: logarithmic, Bars: true,
	}
	for _, r := range c.Rows {
		chart.Labels = append(chart.Labels, r.Label)
		published.Y = append(published.Y, r.Published)
		measured.Y = append(measured.Y, r.Measured)
		measured.Halves = append(measured.Halves, r.Half)
	}
	chart.Curves = []Curve{published, measured}
	return chart
}
