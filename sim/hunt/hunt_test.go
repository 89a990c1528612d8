package hunt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// breaking is a subject that also finds a broken rule in the given seeds.
func breaking(f Subject, seeds ...uint64) Subject {
	explore := f.explore
	f.explore = func(seed uint64, watchers ...sim.Watcher) wandering.Outcome {
		o := explore(seed, watchers...)
		if slices.Contains(seeds, seed) {
			o.Err = errors.New("planted")
		}
		return o
	}
	return f
}

func TestAHuntIsTheSameWithAnyNumberOfWorkers(t *testing.T) {
	for name, subject := range map[string]Subject{
		"without a failure": wanders(), "with two": breaking(wanders(), 21, 20), "a ring": ring(),
		"a tree with two": breaking(tree(), 21, 20),
	} {
		t.Run(name, func(t *testing.T) {
			var reports []*Report
			for _, workers := range []int{1, 2, 7} {
				reports = append(reports, Run(t.Context(), Options{
					Subject: subject, From: 11, Seeds: deep.Of[uint64](12, 40, 40), Workers: workers,
				}))
			}
			for _, r := range reports[1:] {
				if d := cmp.Diff(fmt.Sprint(reports[0].Coverage), fmt.Sprint(r.Coverage)); d != "" {
					t.Errorf("coverage differs: %s", d)
				}
				if r.Steps != reports[0].Steps || r.Seeds != reports[0].Seeds || r.Simulated != reports[0].Simulated {
					t.Errorf("%d seeds, %d steps, %v s; with one worker %d, %d, %v",
						r.Seeds, r.Steps, r.Simulated, reports[0].Seeds, reports[0].Steps, reports[0].Simulated)
				}
				if d := cmp.Diff(fmt.Sprint(reports[0].Failure), fmt.Sprint(r.Failure)); d != "" {
					t.Errorf("the failure differs: %s", d)
				}
			}
		})
	}
}

func TestTheLeastSeedThatFailsIsShownWithAllThatIsKnown(t *testing.T) {
	r := Run(t.Context(), Options{Subject: breaking(wanders(), 23, 31, 30), Seeds: 100, Workers: 4})
	if r.Failure == nil || r.Failure.Seed != 23 || r.Seeds != 23 {
		t.Fatalf("%d seeds, failure %v", r.Seeds, r.Failure)
	}
	if !errors.Is(r.Err(), r.Failure.Err) {
		t.Errorf("the hunt's error is %v", r.Err())
	}
	text := r.Failure.String()
	for _, want := range []string{
		"seed 23: planted\n", "  MinInterval  ", "wanderd sim hunt --seed 23 --seeds 1\n",
		"wanderd sim trace --seed 23\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if n := strings.Count(r.Failure.Trace, "\n"); n != traceLines {
		t.Errorf("%d lines of the trace are shown, want %d", n, traceLines)
	}
}

func TestAPanicIsAFailureOfItsSeed(t *testing.T) {
	bomb := wanders()
	explore := bomb.explore
	bomb.explore = func(seed uint64, watchers ...sim.Watcher) wandering.Outcome {
		return explore(seed, append(watchers, panicking(seed))...)
	}
	r := Run(t.Context(), Options{Subject: bomb, Seeds: 10, Workers: 2})
	if r.Failure == nil || r.Failure.Seed != 4 || !strings.Contains(r.Failure.Err.Error(), "panicking") {
		t.Errorf("failure %v", r.Failure)
	}
}

// panicking is a watcher that panics in one seed.
type panicking uint64

func (p panicking) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if p == 4 && o.At > policy.Time(time.Second) {
		panic("planted")
	}
	return nil
}

func TestAHuntEndsWhenItIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{For: time.Hour, Workers: 2, Progress: func(r *Report) {
		if r.Seeds == 50 {
			cancel()
		}
	}}
	if r := Run(ctx, o); r.Seeds < 50 || r.Failure != nil {
		t.Errorf("%d seeds, and %v", r.Seeds, r.Failure)
	}
}

func TestAHuntEndsInTime(t *testing.T) {
	if r := Run(t.Context(), Options{For: time.Millisecond}); r.Failure != nil {
		t.Error(r.Failure)
	}
}

func TestAHuntThatMissesSomethingIsNoSuccess(t *testing.T) {
	r := Run(t.Context(), Options{Seeds: 1})
	if r.Err() != nil {
		t.Fatalf("one seed need not lead to everything: %v", r.Err())
	}
	r.Seeds = DefaultSeeds
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "never led to") {
		t.Errorf("nothing is said of what is missing: %v", err)
	}
}
