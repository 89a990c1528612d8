package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/sim/report"
)

// fleetOf is a scenario of a small fleet for an hour.
func fleetOf(t *testing.T, seeds int) scenario.Parameters {
	t.Helper()
	p, err := scenario.Read(settings.Flags{}, "")
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.MinInterval, p.MaxInterval, p.Duration, p.Seeds = 10, time.Minute, 3*time.Minute, time.Hour, seeds
	return p
}

func quiet(float64) {}

func TestTheNumberOfCoresChangesNoResult(t *testing.T) {
	var texts []string
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		r, err := wanders(t.Context(), fleetOf(t, 5), quiet)
		if err != nil || r.Complete != 5 || r.Stopped() {
			t.Fatalf("%d complete, %v", r.Complete, err)
		}
		var b bytes.Buffer
		if err := cli.WriteJSON(&b, r.Document()); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Errorf("1 core\n%s\n2\n%s\n8\n%s", texts[0], texts[1], texts[2])
	}
}

func TestTheRunsOfManySeedsAreThoseOfOneSeedEach(t *testing.T) {
	p := fleetOf(t, 3)
	many, err := wanders(t.Context(), p, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range many.Runs {
		one := p
		one.Seed, one.Seeds = p.Seed+uint64(i), 1
		alone, err := wanders(t.Context(), one, quiet)
		if err != nil || alone.Runs[0].Operations != many.Runs[i].Operations ||
			alone.Runs[0].Hops != many.Runs[i].Hops {
			t.Errorf("seed %d: %+v and %+v, %v", one.Seed, alone.Runs[0], many.Runs[i], err)
		}
	}
}

func TestAStoppedSimulationReturnsTheResultSoFar(t *testing.T) {
	cause := errors.New("enough")
	for seeds, complete := range map[int]int{1: 0, 50: 2} {
		p := fleetOf(t, seeds)
		p.Duration = 24 * time.Hour
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := wanders(ctx, p, func(share float64) {
			if share > (float64(complete)+0.1)/float64(seeds) {
				cancel(cause)
			}
		})
		if !errors.Is(err, cause) || !r.Stopped() || len(r.Runs) == 0 || r.Complete > complete {
			t.Fatalf("%d seeds: %v, %d runs, %d complete", seeds, err, len(r.Runs), r.Complete)
		}
		if d := float64(r.Runs[0].Duration); d <= 0 || d >= p.Duration.Seconds() && r.Complete == 0 ||
			r.Runs[0].Operations == 0 {
			t.Errorf("%d seeds: %v s were measured", seeds, d)
		}
		if text := r.Tables(report.Text); !strings.Contains(text, "; stopped") {
			t.Error(text)
		}
	}
}

func TestProgressEndsAtTheWhole(t *testing.T) {
	last := 0.0
	p := fleetOf(t, 1)
	if _, err := wanders(t.Context(), p, func(share float64) { last = max(last, share) }); err != nil || last < 0.99 ||
		last > 1.01 {
		t.Errorf("%v, %v", last, err)
	}
}

func TestJSONHasTheFieldsThatScriptsRelyOn(t *testing.T) {
	r, err := wanders(t.Context(), fleetOf(t, 1), quiet)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := cli.WriteJSON(&b, r.Document()); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"scenario.policy", "scenario.seed", "duration_s", "concurrency_s.0", "concurrency_s.1", "utilisation",
		"overlap", "operations",
		"interval_s.p50", "interval_s.p90", "interval_s.p99", "interval_s.max", "interval_s.histogram.50",
		"tokens.generated", "tokens.revived",
		"tokens.removed", "tokens.lost", "tokens.live_s.0", "tokens.live_s.1", "hops", "messages",
		"messages_per_operation",
		"recovery_s.count", "recovery_s.p50", "recovery_s.p90", "recovery_s.max", "tokenless_s.count",
		"held_again_s.count", "held_again_s.p50",
		"held_again_s.p90", "held_again_s.max", "one_for_good_s.count", "one_for_good_s.max", "runs", "stopped",
	} {
		var at any = got
		for name := range strings.SplitSeq(path, ".") {
			table, _ := at.(map[string]any)
			there := false
			if at, there = table[name]; !there {
				t.Errorf("%s is missing in\n%s", path, b.String())
				break
			}
		}
	}
}

func TestCSVHasTheNamesOfJSON(t *testing.T) {
	r, err := wanders(t.Context(), fleetOf(t, 1), quiet)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, r.Document()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"figure,value\n", "\nscenario.min_interval,1m\n", "\nscenario.crash_every,\n", "\nduration_s,3600\n",
		"\nconcurrency_s.1,",
		"\nrecovery_s.p50,\n", "\nstopped,false\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
