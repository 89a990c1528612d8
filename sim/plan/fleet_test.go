package plan

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestTheSameRequestGetsTheSameResultOnAnyNumberOfCores(t *testing.T) {
	answer := func(seed uint64) string {
		w := Request{Members: 40, Op: 4 * time.Second, Every: 6 * time.Minute, Loss: 0.02, Seed: seed}
		a, err := planWithin(t.Context(), w, tinyEffort())
		if err != nil {
			t.Fatal(err)
		}
		document, err := json.MarshalIndent(a, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(document)
	}
	first := answer(7)
	cores := runtime.GOMAXPROCS(1)
	again := answer(7)
	runtime.GOMAXPROCS(cores)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if answer(8) == first {
		t.Error("another seed gives the same")
	}
}

// The work is counted in steps of machines, whatever is requested.
func TestTheWorkDoesNotDependOnTheRequest(t *testing.T) {
	deep.Only(t, "plans a large fleet again and again")
	e := tinyEffort()
	for _, w := range requests() {
		a, err := planWithin(t.Context(), w, e)
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		for _, f := range []struct {
			Forecast
			most uint64
		}{{a.Expected, overrun*e.fleet + e.lossExperiment}, {a.Twice, overrun * e.twice}} {
			if watched(&w, &a.Constants) {
				f.most *= guardedWork
			}
			// Every member must be started, however little is to be done.
			f.most += uint64(2 * bootSteps * f.Members * f.Simulated.Seeds)
			if f.Simulated.Steps > f.most {
				t.Errorf("%+v: %d members took %d steps, want %d at most", w, f.Members, f.Simulated.Steps, f.most)
			}
		}
	}
}

func TestWithEnoughWorkMostIsMeasured(t *testing.T) {
	w := Request{Walk: wander.Sweep, Members: 100, Op: time.Minute, Every: 3 * time.Hour}
	a, err := planWithin(t.Context(), w, effort{fleet: 400_000, lossExperiment: 100_000, twice: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Forecast{a.Expected, a.Twice} {
		if f.FromTheory || f.Simulated.Operations < f.Members || f.Busy.Half <= 0 {
			t.Errorf("%d members: %+v", f.Members, f)
		}
	}
	if a.Loss.Samples == 0 || a.Loss.Recovered != a.Loss.Samples || a.Loss.Recovery < a.Loss.Silence {
		t.Errorf("killed holder: %+v", a.Loss)
	}
	if day := 24 * 60 * 60.0; float64(a.Loss.Silence) < 0.5*a.Constants.MaxInterval.Seconds() ||
		float64(a.Loss.Silence) > day {
		t.Errorf("the silence lasts %v s, and max_interval is %v", a.Loss.Silence, a.Constants.MaxInterval)
	}
}

func TestAPlanEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits any longer")
	cancel(why)
	w := Request{Members: 400, Op: 3 * time.Minute, Every: 24 * time.Hour}
	if _, err := Plan(ctx, w); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// With earlier lives a run begins as it goes on: early measurements are like later ones.
func TestAFleetBeginsAsItGoesOn(t *testing.T) {
	w := Request{Members: 200, Op: 4 * time.Second, Every: 16 * time.Minute, Seed: 3}
	k, _ := recommend(&w)
	f := newFleet(&w, w.Members, &k)
	for name, budget := range map[string]uint64{"short": 30_000, "long": 600_000} {
		r, err := f.simulate(t.Context(), 3, budget, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := float64(r.figures.Utilisation), f.busy(); got < 0.9*want || got > 1.1*want {
			t.Errorf("%s run: busy %.3f, want about %.3f", name, got, want)
		}
		if got, want := float64(mean(r.waits)), f.wait(); got < 0.75*want || got > 1.25*want {
			t.Errorf("%s run: waits of %.1f s, want about %.1f s", name, got, want)
		}
	}
}

func TestATokenThatTheNetworkLosesIsSaidToBe(t *testing.T) {
	w := Request{Members: 5, Op: time.Minute, Every: 10 * time.Minute, Loss: 0.4}
	a, err := planWithin(t.Context(), w, effort{fleet: 200_000, lossExperiment: 50_000, twice: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	if a.Expected.Lost.Mean <= 0 || a.Met || len(a.Warnings) == 0 || len(a.Changes) > 0 {
		t.Errorf("lost %v a day, met: %v, warnings %q, changes %v", a.Expected.Lost.Mean, a.Met, a.Warnings, a.Changes)
	}
}
