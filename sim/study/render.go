package study

import (
	"path/filepath"
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

// Draw draws the plots into a folder, each into a file of every format.
func (r Result) Draw(folder string, formats ...report.ImageFormat) error {
	for _, p := range r.Plots {
		for _, format := range formats {
			file, err := report.Create(filepath.Join(folder, p.Name+"."+string(format)))
			if err != nil {
				return err
			}
			if err := file.Draw(p.Chart, format); err != nil {
				return err
			}
		}
	}
	return nil
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
