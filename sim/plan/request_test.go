package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
)

func TestEverythingImpossibleIsSaidAtOnce(t *testing.T) {
	day := 24 * time.Hour
	for name, tc := range map[string]struct {
		request Request
		want    []string
	}{
		"possible": {Request{Members: 400, Op: 3 * time.Minute, Every: day}, nil},
		"nothing":  {Request{}, []string{"members is 0", "op is 0s: say how long", "every is 0s: say how often"}},
		"all": {
			Request{
				Members: 20_001, Op: -1, Every: 366 * day, Walk: 77, Backups: 5, Slots: 65, Skip: -1,
				Latency: 2 * time.Second, Loss: 0.6,
			},
			[]string{
				"members is 20001", "op is -1ns", "every is 8784h", "there is no Walk(77)", "backups is 5: 0 to 4",
				"slots is 65: 1 to 64", "skip is -1ns", "latency is 2s", "loss is 60 %",
			},
		},
		"op longer than every": {
			Request{Members: 2, Op: time.Hour, Every: time.Hour},
			[]string{"op is 1h and every is 1h"},
		},
		"a round of a lifetime": {
			Request{Members: 1000, Op: 30 * day, Every: 300 * day}, []string{"longer than twenty years"},
		},
		"skip longer than every": {
			Request{Members: 2, Op: time.Second, Every: time.Hour, Skip: time.Hour},
			[]string{"skip is 1h and every is 1h"},
		},
		"more slots than members": {
			Request{Members: 2, Slots: 3, Op: time.Second, Every: time.Hour}, []string{"slots is 3 and members is 2"},
		},
		"loss is no number": {
			Request{Members: 2, Op: time.Second, Every: time.Hour, Loss: math.NaN()}, []string{"loss is NaN"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planWithin(t.Context(), tc.request, tinyEffort())
			if tc.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			impossible, ok := errors.AsType[*Impossible](err)
			if !ok || len(impossible.Problems) != len(tc.want) {
				t.Fatalf("got %v, want %d sentences", err, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(impossible.Problems[i], want) && !strings.Contains(impossible.Problems[i], want) {
					t.Errorf("got %q, want %q", impossible.Problems[i], want)
				}
			}
		})
	}
}

// requests returns requests of all possible kinds.
func requests() []Request {
	day := 24 * time.Hour
	var all []Request
	for _, walk := range wander.Walks() {
		all = append(all,
			Request{Walk: walk, Members: 400, Op: 3 * time.Minute, Every: day},
			Request{Walk: walk, Members: 400, Op: 3 * time.Minute, Every: day / 2},
			Request{
				Walk: walk, Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 4 * time.Second,
				Loss: 0.01,
			},
			Request{Walk: walk, Members: 2, Op: time.Millisecond, Every: time.Second},
			Request{Walk: walk, Members: 2, Op: 100 * day, Every: 300 * day},
			Request{Walk: walk, Members: 5, Op: time.Minute, Every: 10 * time.Minute, Loss: 0.5},
			Request{Walk: walk, Members: 10_000, Op: 3 * time.Second, Every: day, Latency: 50 * time.Millisecond},
			Request{Walk: walk, Members: 20_000, Op: 8 * time.Hour, Every: day},
			Request{Walk: walk, Backups: 2, Members: 400, Op: 3 * time.Minute, Every: day},
			Request{Walk: walk, Backups: 2, Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Loss: 0.01},
			Request{Walk: walk, Backups: 4, Members: 2, Op: time.Millisecond, Every: time.Second},
			Request{Walk: walk, Backups: 2, Slots: 3, Members: 150, Op: 4 * time.Second, Every: 4 * time.Minute},
			Request{Walk: walk, Slots: 16, Members: 16, Op: time.Minute, Every: time.Hour},
			Request{Walk: walk, Slots: 2, Members: 300, Op: 4 * time.Second, Every: 15 * time.Minute, Loss: 0.01},
		)
	}
	return append(all, Request{Backups: 1, Members: 20_000, Op: 8 * time.Hour, Every: day})
}

// tinyEffort is enough to see that something happens.
func tinyEffort() effort { return effort{fleet: 60_000, lossExperiment: 20_000, twice: 20_000} }

// A share of the members is the number that it comes to, and twice as many members have twice as many.
func TestSlotsMayBeAShareOfTheMembers(t *testing.T) {
	w := Request{Members: 40, Op: time.Minute, Every: time.Hour, Backups: 2, SlotsShare: 10}
	got, err := planWithin(t.Context(), w, tinyEffort())
	if err != nil {
		t.Fatal(err)
	}
	w.Slots, w.SlotsShare = 4, 0
	want, err := planWithin(t.Context(), w, tinyEffort())
	if err != nil {
		t.Fatal(err)
	}
	if got.Constants.Slots != 4 || got.Load != want.Load || got.Expected.Busy != want.Expected.Busy {
		t.Errorf("a tenth of 40: %d slots, load %v; 4 of 40: load %v", got.Constants.Slots, got.Load, want.Load)
	}
	if got.Twice.Load >= want.Twice.Load {
		t.Errorf("with twice the members a tenth have load %v, and 4 have %v", got.Twice.Load, want.Twice.Load)
	}
	if !strings.Contains(got.TOML, `slots = "10%"`) || !strings.Contains(got.Command, "--slots 10%") {
		t.Errorf("%s\n%s", got.TOML, got.Command)
	}
	w.Slots, w.SlotsShare = 4, 10
	if _, err := planWithin(t.Context(), w, tinyEffort()); err == nil {
		t.Error("a number and a share are possible")
	}
}
