package paper

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/sim/report"
)

func TestEveryExperimentCanBeFoundAndSaysWhatIsPublished(t *testing.T) {
	for _, name := range []string{
		"random-access", "wander-stable", "wander-intervals", "wander-loss", "wander-burst", "wander-backbone", "wander-variants",
	} {
		e, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Name != name || e.Title == "" || e.Source == "" || e.Shows == "" || len(e.Published) == 0 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAnUnknownNameGetsTheNearestAndTheList(t *testing.T) {
	for name, nearest := range map[string]string{
		"wander-stabel": "wander-stable", "stable": "wander-stable", "random": "random-access", "wander_loss": "wander-loss",
		"backbone": "wander-backbone", "": "wander-loss",
	} {
		_, err := Find(name)
		if !errors.Is(err, ErrUnknown) {
			t.Fatalf("%q: %v", name, err)
		}
		if name != "" && !strings.Contains(err.Error(), "did you mean \""+nearest+"\"") {
			t.Errorf("%q: %v; want %s", name, err, nearest)
		}
		for _, e := range List() {
			if !strings.Contains(err.Error(), e.Name) {
				t.Errorf("%q: %v; %s is missing", name, err, e.Name)
			}
		}
	}
}

func TestAResultDoesNotDependOnTheNumberOfCores(t *testing.T) {
	for _, name := range []string{"random-access", "wander-burst"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		one, two := asJSON(t, e, Options{Seeds: 3, Parallel: 1}), asJSON(t, e, Options{Seeds: 3, Parallel: 2})
		if one != two {
			t.Errorf("%s: one core\n%s\ntwo cores\n%s", name, one, two)
		}
	}
}

func asJSON(t *testing.T, e Experiment, o Options) string {
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
	r, err := wanderBurst().Run(ctx, Options{Seeds: 50, Parallel: 1, Progress: func(done, all int) {
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

// Whoever interrupts at once gets empty tables, not a crash.
func TestEveryExperimentSurvivesBeingCancelledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range List() {
		r, err := e.Run(ctx, Options{})
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

func TestAcrossKeepsTheOrderAndStopsAtAnError(t *testing.T) {
	double := func(_ context.Context, job int) (int, error) { return 2 * job, nil }
	got, err := across(t.Context(), Options{Parallel: 4}, 5, double)
	if err != nil || !slices.Equal(got, []int{0, 2, 4, 6, 8}) {
		t.Errorf("%v, %v", got, err)
	}
	broken := errors.New("broken")
	got, err = across(t.Context(), Options{Parallel: 1}, 5, func(_ context.Context, job int) (int, error) {
		if job == 2 {
			return 0, broken
		}
		return job, nil
	})
	if !errors.Is(err, broken) || !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}
