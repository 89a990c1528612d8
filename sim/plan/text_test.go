package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy/wander"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func text(t *testing.T, a *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := a.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The figures in these files come from simulations, so they change with the machines. "go test ./sim/plan -update"
// rewrites them; read what has changed.
func TestResultsReadWell(t *testing.T) {
	for name, w := range map[string]Request{
		"met": {Walk: wander.Sweep, Backups: 2, Members: 400, Op: 3 * time.Minute, Every: 24 * time.Hour, Seed: 1},
		"slots": {
			Walk: wander.Shuffle, Backups: 2, Slots: 2, Members: 400, Op: 3 * time.Minute,
			Every: 12 * time.Hour, Seed: 1,
		},
		"not-met": {
			Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 4 * time.Second, Loss: 0.01, Seed: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := planWithin(t.Context(), w, effort{fleet: 1_000_000, lossExperiment: 200_000, twice: 400_000})
			if err != nil {
				t.Fatal(err)
			}
			got, golden := text(t, &a), filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryResultCanBeReadByPeopleAndScripts(t *testing.T) {
	for _, w := range requests() {
		a, err := planWithin(t.Context(), w, tinyEffort())
		if err != nil {
			t.Fatal(err)
		}
		written := text(t, &a)
		for _, strange := range []string{"NaN", "Inf", "%!", " ,", "  ."} {
			if strings.Contains(written, strange) {
				t.Errorf("%+v: the text has %q:\n%s", w, strange, written)
			}
		}
		for line := range strings.Lines(written) {
			if n := utf8.RuneCountInString(line); n > 125 {
				t.Errorf("%+v: a line of %d columns: %s", w, n, line)
			}
		}
		var read map[string]any
		document, err := json.Marshal(a)
		if err == nil {
			err = json.Unmarshal(document, &read)
		}
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		for _, key := range []string{
			"wish", "met", "changes", "warnings", "constants", "expected", "traffic", "toml", "command",
		} {
			if read[key] == nil {
				t.Errorf("%+v: the document has no %s", w, key)
			}
		}
	}
}

func TestConstantsAreTOMLAndFlagsAlike(t *testing.T) {
	k := Constants{
		Walk: wander.Shuffle, Skip: 250 * time.Millisecond, Op: 90 * time.Second,
		MinInterval: 23*time.Hour + 20*time.Minute,
		MaxInterval: 70 * time.Hour, HookTimeout: 5 * time.Minute, Backups: 3,
	}
	for _, want := range []string{
		`walk = "shuffle"`, `skip = "250ms"`, `op = "1m30s"`, `min_interval = "23h20m"`,
		`max_interval = "70h"`, `hook_timeout = "5m"`, `backups = 3 `,
	} {
		if !strings.Contains("\n"+toml(&k), "\n"+want) {
			t.Errorf("no %s in\n%s", want, toml(&k))
		}
	}
	if want := "wanderd --walk shuffle --skip 250ms --op 1m30s --min-interval 23h20m --max-interval 70h --backups 3 " +
		"--hook-timeout 5m --hook ./sync.sh"; command(&k) != want {
		t.Errorf("got %s\nwant %s", command(&k), want)
	}
	k.DefaultMaxInterval = true
	if strings.Contains("\n"+toml(&k), "\nmax_interval") || strings.Contains(command(&k), "max-interval") {
		t.Error("a max_interval that an agent makes by itself is fixed")
	}
}

func TestFiguresAreWrittenForReaders(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 %", 1e-6: "< 0.01 %", 0.0012: "0.12 %", 0.01: "1 %", 0.8336: "83.4 %", 0.99999: "100 %", 1: "100 %",
		math.NaN(): "–",
	} {
		if got := percent(s); got != want {
			t.Errorf("%v is written %q, want %q", s, got, want)
		}
	}
	for n, want := range map[float64]string{
		0.001: "3.6 B/h", 0.5: "0.5 B/s", 12: "12 B/s", 345: "345 B/s", 1890: "1.89 kB/s", 2.5e6: "2.5 MB/s",
	} {
		if got := perSecond(n, "B/s"); got != want {
			t.Errorf("%v is written %q, want %q", n, got, want)
		}
	}
}
