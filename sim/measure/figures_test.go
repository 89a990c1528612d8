package measure

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The names of the figures are an interface: scripts read them.
func TestFiguresAsJSON(t *testing.T) {
	var scenarios []Figures
	for _, longest := range []float64{1300, 6100} {
		s := tell(t, Config{Members: 3, Quiet: quiet, Bin: 250 * time.Millisecond})
		s.hands(10, 0, policy.CauseMade, 1)
		s.start(10, 0)
		s.finish(14.000000001, 0)
		s.pass(14, 0, 1, 1)
		s.start(14, 1)
		s.arrive(14.5, 0, 1, 1)
		s.finish(18, 1)
		s.start(610.125, 0)
		s.finish(610.125+longest, 0)
		s.start(610.125+longest, 0)
		s.crash(7000, 1)
		s.hands(8000, 2, policy.CauseMade, 2)
		scenarios = append(scenarios, s.meter.Figures(at(10_000)))
	}
	golden(t, "figures.json", scenarios[0])
	golden(t, "summary.json", Across(scenarios))
	golden(t, "nothing.json", New(Config{}).Figures(0))
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got); after a change on purpose: go test ./sim/measure -update\n%s", name, d)
	}
}
