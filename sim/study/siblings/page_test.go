package siblings

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/report"
)

func TestEveryExperimentSaysWhereItIsPublished(t *testing.T) {
	want := []string{"ring-wk"}
	var names []string
	for _, e := range Page().Experiments {
		names = append(names, e.Name)
		if e.Title == "" || e.Source == "" || e.Shows == "" || e.Against == "" {
			t.Errorf("%s: %+v", e.Name, e)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("there are %v, want %v", names, want)
	}
}

// Whoever interrupts at once gets empty tables, not a crash.
func TestEveryExperimentSurvivesBeingCancelledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Page().Experiments {
		r, err := e.Run(ctx, study.Options{})
		if !errors.Is(err, context.Canceled) || r.Runs != 0 {
			t.Errorf("%s: %d runs, %v", e.Name, r.Runs, err)
		}
		for _, f := range []report.Format{report.Text, report.Markdown, report.CSV} {
			if s := r.Render(f); strings.Contains(s, "NaN") {
				t.Errorf("%s: %s", e.Name, s)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}
