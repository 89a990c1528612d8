package study

import (
	"path/filepath"
	"strings"

	"github.com/wanderd/wanderd/sim/report"
)

// Render writes notes and tables in a format, without plots. CSV has only the tables, with an empty line between them.
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

// Draw writes each plot to a folder.
func (r Result) Draw(folder string) error {
	for _, p := range r.Plots {
		file, err := report.Create(filepath.Join(folder, p.Name+".svg"))
		if err != nil {
			return err
		}
		if err := file.Draw(p.Chart); err != nil {
			return err
		}
	}
	return nil
}

// sentences returns the verdict and the notes, as a list that reads well as text and as Markdown.
func (r Result) sentences() string {
	var b strings.Builder
	b.WriteString(r.Against + ": " + r.Verdict + ".\n")
	for i, n := range r.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + n + "\n")
	}
	return b.String()
}
