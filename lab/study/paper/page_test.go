package paper

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/study"
)

func TestThePageHasItsExperiments(t *testing.T) {
	want := []string{
		"random-access", "wander-stable", "wander-intervals", "wander-loss", "wander-burst", "wander-backbone",
		"wander-variants",
	}
	var names []string
	for _, e := range Page().Experiments {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("there are %v, want %v", names, want)
	}
}

func TestAResultDoesNotDependOnTheNumberOfCores(t *testing.T) {
	for _, e := range []study.Experiment{randomAccess(), wanderBurst()} {
		one, two := asJSON(t, e, study.Options{Seeds: 3, Parallel: 1}),
			asJSON(t, e, study.Options{Seeds: 3, Parallel: 2})
		if one != two {
			t.Errorf("%s: one core\n%s\ntwo cores\n%s", e.Name, one, two)
		}
	}
}

func asJSON(t *testing.T, e study.Experiment, o study.Options) string {
	t.Helper()
	r, err := e.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestACancelledExperimentReturnsWhatIsThere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := wanderBurst().Run(ctx, study.Options{Seeds: 50, Parallel: 1, Progress: func(done, all int) {
		if all != 50 {
			t.Errorf("%d runs in all, want 50", all)
		}
		if done == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "2 of 50") {
		t.Errorf("error %v", err)
	}
	if r.Runs != 2 || r.Wanted != 50 || len(r.Tables) == 0 {
		t.Errorf("%d of %d runs, %d tables", r.Runs, r.Wanted, len(r.Tables))
	}
}
