package study

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/report"
)

// head is the beginning of a page, with a part that sections share.
const head = "{{define \"shared\"}}It is {{number .much}}.{{end}}\n# A title\n\nAn\nintro.\n"

// section is the section of the experiment one.
const section = `
## one

**The first** (table 9). With {{.members}} members:
something.

Targets: {{percent .share}} of {{.members}}: so
so.

- {{template "shared" .}}
{{range .rows}}
- Row
  {{.}}, wrapped.
{{- end}}

**Numbers**

Below {{if .many}}many{{else}}few{{end}}.

Below as well.
`

// saying is an experiment with two tables of one title, and figures.
func saying(figures Figures) Experiment {
	return Experiment{Name: "one", Given: Figures{"members": 3}, Do: func(context.Context, Options) (Result, error) {
		return Result{
			Comparisons: []report.Comparison{{Title: "Numbers, N = 1"}, {Title: "Numbersome"}},
			Tables:      []report.Table{{Title: "Numbers"}},
			Figures:     figures,
		}, nil
	}}
}

func enough() Figures {
	return Figures{"much": 1.5, "share": 0.25, "rows": []string{"a", "b"}, "many": true}
}

func TestASectionGivesAnExperimentItsWords(t *testing.T) {
	p := Written("page", head+section, saying(enough()))
	if p.Name != "page" || p.Title != "A title" || p.Intro != "An\nintro." {
		t.Errorf("%+v", p)
	}
	e := p.Experiments[0]
	if e.Title != "The first" || e.Source != "table 9" || e.Shows != "With 3 members: something." ||
		e.Against != "Targets" {
		t.Errorf("before it runs: %+v", e)
	}
	r, err := e.Run(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "25 % of 3: so so" ||
		!slices.Equal(r.Notes, []string{"It is 1.5.", "Row a, wrapped.", "Row b, wrapped."}) {
		t.Errorf("verdict %q, notes %q", r.Verdict, r.Notes)
	}
	below := []string{"Below many.", "Below as well."}
	if !slices.Equal(r.Comparisons[0].Notes, below) || len(r.Comparisons[1].Notes) > 0 ||
		!slices.Equal(r.Tables[0].Notes, below) {
		t.Errorf("comparisons %+v, tables %+v", r.Comparisons, r.Tables)
	}
}

// A section with a missing figure must not become a page with a hole in it.
func TestAFigureThatIsMissingIsAnError(t *testing.T) {
	for name := range enough() {
		for _, absent := range []bool{true, false} {
			figures := enough()
			if figures[name] = nil; absent {
				delete(figures, name)
			}
			if !absent && (name == "rows" || name == "many") {
				continue // none, and not so
			}
			r, err := Written("page", head+section, saying(figures)).Experiments[0].Run(t.Context(), Options{})
			if err == nil {
				t.Errorf("without %s: %q, %q, %+v", name, r.Verdict, r.Notes, r.Tables)
			}
		}
	}
	e := saying(enough())
	e.Given = nil
	if _, err := written("page", head+section, []Experiment{e}); err == nil {
		t.Error("what it shows lacks a figure, and nobody says so")
	}
}

func TestEverySectionHasAnExperimentAndTheOtherWayRound(t *testing.T) {
	one, two := saying(enough()), Experiment{Name: "two"}
	for name, c := range map[string]struct {
		text  string
		all   []Experiment
		fault string
	}{
		"a section too many": {
			head + section + strings.ReplaceAll(section, "one", "two"), []Experiment{one}, "a section two, and no such",
		},
		"an experiment too many": {head + section, []Experiment{one, two}, "no section two"},
		"a section twice":        {head + section + section, []Experiment{one}, "two sections one"},
		"no source": {
			head + strings.Replace(section, " (table 9)", "", 1), []Experiment{one}, "begins with",
		},
		"no verdict":  {head + "\n## two\n\n**A** (b). C.\n", []Experiment{two}, "no verdict"},
		"no template": {head + section + "{{", []Experiment{one}, "template"},
	} {
		if _, err := written("page", c.text, c.all); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANoteBelowATableThatIsNotThereIsAnError(t *testing.T) {
	p := Written("page", head+strings.Replace(section, "**Numbers**", "**Letters**", 1), saying(enough()))
	if _, err := p.Experiments[0].Run(t.Context(), Options{}); err == nil ||
		!strings.Contains(err.Error(), `"Letters"`) {
		t.Error(err)
	}
}
