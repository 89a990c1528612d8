package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func callers(members int, demand time.Duration) CallersRequest {
	return CallersRequest{Members: members, Op: 4 * time.Second, Demand: demand, Backups: 2, Seed: 1}
}

// The figures in this file come from simulations, so they change with the machines. "go test ./sim/plan -update"
// rewrites it; read what has changed.
func TestAPlanForCallersReadsWell(t *testing.T) {
	for name, w := range map[string]CallersRequest{
		"callers": callers(150, 20*time.Minute), "callers-not-met": callers(150, 4*time.Minute),
	} {
		a, err := ForCallers(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := a.Text(&b); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// Theory and simulation agree: a caller that nobody disturbs waits for two and a half round trips, and a gate with too
// many callers serves as many as its capacity.
func TestAPlanForCallersAgreesWithTheory(t *testing.T) {
	rare, err := ForCallers(t.Context(), callers(10, 2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if p50 := float64(rare.Expected.Wait.P50); p50 > rare.Alone || rare.Expected.PerRun > 13 || !rare.Met {
		t.Errorf("half of the callers wait for more than %v s, not %v; %v datagrams a run", p50, rare.Alone,
			rare.Expected.PerRun)
	}
	w := callers(40, 30*time.Second)
	w.Slots = 2
	crowded, err := ForCallers(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	e := &crowded.Expected
	served := float64(e.Simulated.Operations) / e.Simulated.Duration * 3600
	if crowded.Met || crowded.EnoughSlots != 5 || math.Abs(served-crowded.Capacity) > 0.02*crowded.Capacity {
		t.Errorf("%+v serves %v an hour", crowded, served)
	}
}

// A share of the members is twice the number where there are twice the members.
func TestAShareForCallersFollowsTheMembers(t *testing.T) {
	w := callers(40, 5*time.Minute)
	w.SlotsShare = 5
	a, err := ForCallers(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if w.slots() != 2 || a.Twice.Load != a.Load || a.Twice.Load != a.Expected.Load {
		t.Errorf("%d slots, load %v, with twice the members %v", w.slots(), a.Load, a.Twice.Load)
	}
}

func TestAnImpossiblePlanForCallersHasSentences(t *testing.T) {
	w := callers(1, 0)
	w.Backups, w.Slots, w.Loss = 0, 65, 0.9
	_, err := ForCallers(t.Context(), w)
	impossible, ok := errors.AsType[*Impossible](err)
	if !ok || len(impossible.Problems) != 5 {
		t.Fatalf("%v", err)
	}
	for i, about := range []string{"members is 1", "slots is 65", "loss is 90", "demand is 0s", "backups is 0"} {
		if !strings.HasPrefix(impossible.Problems[i], about) {
			t.Errorf("%q is not about %s", impossible.Problems[i], about)
		}
	}
}

// Where nobody is left who could call, there is no figure, and no text of one.
func TestAPlanForTwoMembersCanBeRead(t *testing.T) {
	a, err := ForCallers(t.Context(), callers(2, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Text(&b); err != nil || !strings.Contains(b.String(), "nobody is left who could call") ||
		strings.Contains(b.String(), "NaN") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := json.Marshal(a); err != nil {
		t.Error(err)
	}
}
