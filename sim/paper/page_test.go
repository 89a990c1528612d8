package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/report"
)

func TestAPageThatCannotBeWrittenIsNotRun(t *testing.T) {
	err := WritePage(t.Context(), filepath.Join(t.TempDir(), "none"), Options{Progress: func(int, int) {
		t.Error("something was run")
	}})
	if err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("error %v", err)
	}
}

func TestThePageHasEveryTableNoteAndPlot(t *testing.T) {
	folder := t.TempDir()
	c := report.Comparison{Title: "Numbers", What: "n", Rows: []report.Compared{{Label: "1", Published: 2, Measured: 3, Half: 1}}}
	results := []Result{{
		Experiment: Experiment{Name: "one", Title: "The first", Source: "table 9", Shows: "Something."}, Verdict: "so so", Runs: 4,
		Comparisons: []report.Comparison{c}, Notes: []string{"It is so."},
		Tables: []report.Table{{Title: "More", Header: []string{"a", "b"}, Rows: [][]string{{"c", "7"}}}},
		Plots:  []Plot{{Name: "one-plot", Chart: c.Chart(false)}},
	}}
	page := pageOf(results)
	for _, want := range []string{
		"## one", "table 9", "Something.", "so so", "It is so.", "**Numbers**", "**More**", "plots/one-plot.svg", "(#one)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if err := writePlots(folder, results); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(filepath.Join(folder, "one-plot.svg"))
	if err != nil || !strings.Contains(string(image), "<svg") {
		t.Errorf("the plot: %.40s, %v", image, err)
	}
}
