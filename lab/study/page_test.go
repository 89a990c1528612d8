package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/report"
)

// answering is an experiment whose result has something of everything.
func answering(name string) Experiment {
	c := report.Comparison{
		Title: "Numbers", What: "n", Rows: []report.Compared{{Label: "1", Published: 2, Measured: 3, Half: 1}},
	}
	return Experiment{
		Name: name, Do: func(ctx context.Context, o Options) (Result, error) {
			if o.Progress != nil {
				o.Progress(1, 2)
				o.Progress(2, 2)
			}
			return Result{
				Runs: 4, Wanted: 4, Comparisons: []report.Comparison{c},
				Tables: []report.Table{{Title: "More", Header: []string{"a", "b"}, Rows: [][]string{{"c", "7"}}}},
				Plots:  []Plot{{Name: name + "-plot", Chart: c.Chart(false)}},
			}, ctx.Err()
		},
	}
}

func pages() []Page {
	text := func(names ...string) string {
		text := "# A title\n\nAn intro.\n"
		for _, name := range names {
			text += "\n## " + name + "\n\n**The first** (table 9). Something.\n\nTargets: so so.\n\n- It is so.\n"
		}
		return text
	}
	return []Page{
		Written("first", text("one", "two"), answering("one"), answering("two")),
		Written("second", text("three"), answering("three")),
	}
}

func TestAPageThatCannotBeWrittenIsNotRun(t *testing.T) {
	err := Write(t.Context(), filepath.Join(t.TempDir(), "none"), pages(), Options{Progress: func(int, int) {
		t.Error("something was run")
	}})
	if err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("error %v", err)
	}
}

func TestAPageHasEveryTableNoteAndPlot(t *testing.T) {
	folder := t.TempDir()
	var reached []int
	err := Write(t.Context(), folder, pages(), Options{
		Progress: func(done, all int) { reached = append(reached, done*100/all) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"first.md": {
			"# A title", "An intro.", "wanderlab run first --write", "(#one)", "(#two)", "## one", "table 9",
			"Something.",
			"Targets: so so", "It is so.", "**Numbers**", "**More**", "plots/one-plot.svg",
		},
		"second.md":            {"## three"},
		"plots/one-plot.svg":   {"<svg"},
		"plots/three-plot.svg": {"<svg"},
	} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q:\n%.2000s", file, want, text)
			}
		}
	}
	if want := []int{16, 33, 50, 66, 83, 100}; !slices.Equal(reached, want) {
		t.Errorf("progress %v, want %v", reached, want)
	}
}

func TestAnInterruptedPageStaysAsItWas(t *testing.T) {
	folder := t.TempDir()
	page := filepath.Join(folder, "first.md")
	if err := os.WriteFile(page, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ctx, folder, pages(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "before" {
		t.Errorf("%q, %v", text, err)
	}
}
