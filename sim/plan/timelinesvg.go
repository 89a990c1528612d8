package plan

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// The picture of a night, in pixels. It is as wide as a page, and has a row for each member, up to maxRows.
const (
	nightWidth  = 1000
	nightLeft   = 20
	nightTop    = 74
	maxRows     = 250
	tallestRow  = 18
	leastHeight = 120
	tallest     = 1000
)

const nightStyle = `<style>
  svg { background: #ffffff; font: 12px system-ui, "DejaVu Sans", sans-serif; }
  text { fill: #5a646e; } text.title { fill: #1c2126; font-size: 15px; font-weight: 600; }
  line { stroke: #d4d8dc; } rect.run { fill: #0b6e99; } rect.closed { fill: #eceef0; }
  @media (prefers-color-scheme: dark) {
    svg { background: #14181c; } text { fill: #9aa5b0; } text.title { fill: #e6e9ec; }
    line { stroke: #343c44; } rect.run { fill: #5cc0ec; } rect.closed { fill: #20272d; }
  }
</style>
`

// SVG draws the night: time from left to right, and a row for each member in the order of their first runs. It contains
// no text that is not the program's own.
func (t *Timeline) SVG(w io.Writer) error {
	busy, most, ran := t.load()
	rowOf, rows := t.rows(maxRows)
	row := min(max(float64(tallest)/float64(max(rows, 1)), 2), tallestRow)
	height := max(row*float64(rows), leastHeight)
	x := func(at time.Duration) float64 {
		return nightLeft + (nightWidth-2*nightLeft)*at.Seconds()/max(t.Lasts.Seconds(), 1)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"A "+
		"night of %d members\">\n%s",
		nightWidth, nightTop+height+10, t.Request.Members, nightStyle)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"20\">%d members, a run of %s on each every %s</text>\n",
		nightLeft, t.Request.Members, written(t.Request.Op), written(t.Request.Every))
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"40\">%s to %s: %d runs, on %d members; a token is in use for %.1f %% of the "+
		"time, at most %d run at once</text>\n",
		nightLeft, t.hour(0), t.hour(t.Lasts), len(t.Runs), ran, 100*busy, most)
	if t.Open < t.Lasts {
		fmt.Fprintf(&b, "<rect class=\"closed\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%.0f\"><title>the "+
			"windows are closed</title></rect>\n",
			x(t.Open), nightTop, x(t.Lasts)-x(t.Open), height)
	}
	step := max((t.Lasts / 12).Round(time.Hour), time.Hour)
	if t.Lasts < 3*time.Hour {
		step = max((t.Lasts / 6).Truncate(time.Minute), time.Minute)
	}
	for at := time.Duration(0); at <= t.Lasts; at += step {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.0f\"/><text x=\"%.1f\" y=\"%d\" "+
			"text-anchor=\"middle\">%s</text>\n",
			x(at), x(at), nightTop-6, nightTop+height, x(at), nightTop-10, t.hour(at))
	}
	for _, r := range t.Runs {
		begin := x(r.Begin)
		fmt.Fprintf(&b, "<rect class=\"run\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>member %d: "+
			"%s to %s</title></rect>\n",
			begin, nightTop+row*float64(rowOf[r.Member])+row/10, max(x(r.End)-begin, 0.5), row*0.8, r.Member+1,
			t.moment(r.Begin), t.moment(r.End))
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// hour returns the time of day that long after the beginning; moment returns the same with seconds.
func (t *Timeline) hour(at time.Duration) string { return t.Begins.Add(at).Format("15:04") }

func (t *Timeline) moment(at time.Duration) string { return t.Begins.Add(at).Format(time.TimeOnly) }
