package wander_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/window"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/hunt"
	"github.com/wanderd/wanderd/sim/reduce"
)

// Scenarios that once broke a rule, or that break one with the mutant whose name they have.
func TestKeptScenarios(t *testing.T) {
	mutant.EachScenario(t, func(content map[string]any) error {
		kept, err := hunt.Read(content)
		if err != nil {
			return err
		}
		return kept.Explore(0).Err
	})
}

// What seeds draw is fit for a run, and what is written of it is read as it was.
func TestADrawnScenarioCanBeWrittenAndRead(t *testing.T) {
	for seed := range uint64(3000) {
		s, l := wandering.Draw(seed), wandering.DrawByzantine(seed)
		var again wandering.Scenario
		var other wandering.ByzantineScenario
		check(t, seed, &s, &again)
		check(t, seed, &l, &other)
	}
}

func check[S interface{ Check() error }](t *testing.T, seed uint64, drawn, read S) {
	t.Helper()
	text := reduce.Text("a scenario", "", drawn)
	content, err := reduce.Decode(text)
	if err == nil {
		err = reduce.Read(content, read)
	}
	alike := cmp.Comparer(func(a, b window.Window) bool { return a.String() == b.String() })
	if d := cmp.Diff(drawn, read, alike); err != nil || d != "" {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, text, d)
	}
}
