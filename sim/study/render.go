package study

import (
	"strings"

	"github.com/wanderd/wanderd/sim/study/report"
)

// Render writes the notes, and the tables in that format, but no plots. A CSV has the tables alone, an empty line between them.
func (r Result) Render(f report.Format) string {
	var parts []string
	if f != report.CSV {
		parts = append(parts, r.sentences())
	}
	for _, c := range r.Comparisons {
		parts = append(parts, c.Table().Render(f))
	}
	for _, t := range r.Tables {
		parts = append(parts, t.Render(f))
	}
	return strings.Join(parts, "\n")
}

// sentences are the verdict and the notes, as a list that is read well as text and as Markdown.
func (r Result) sentences() string {
	var b strings.Builder
	b.WriteString(r.Experiment.Against + ": " + r.Verdict + ".\n")
	for i, n := range r.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + n + "\n")
	}
	return b.String()
}
