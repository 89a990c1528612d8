package kcopies_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/tools/mutant"
)

// caught is the first seed that notices each mutant in testdata/mutants.
var caught = map[string]string{
	"copies-copy-not-asked-for":   "1",
	"copies-count-not-raised":     "1",
	"copies-detection-set-kept":   "1",
	"copies-late-suspicion":       "1",
	"copies-nearest-only":         "4",
	"copies-no-first-copies":      "186",
	"copies-old-message":          "4",
	"copies-one-copy-less":        "1",
	"copies-same-count":           "1",
	"copies-suspected-outside":    "1",
	"copies-token-kept":           "1",
	"election-currentleader":      "521",
	"election-leader-at-once":     "2",
	"martin-asks-once":            "5329",
	"martin-old-request":          "8",
	"martin-sends-others-on":      "2",
	"misra-colours-of-mais-valem": "2",
	"misra-no-cap":                "2",
	"misra-no-colours":            "20",
	"misra-no-updatetoken":        "48",
	"transpeer-history-of-before": "1",
}

// Every mutant breaks one rule, or is the rule as printed where that is wrong: a change to the text of one source file, made for one build.
// The test that it names notices it, at the seed that stands here.
func TestEveryMutantIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) != len(caught) {
		t.Fatalf("%d mutants, and seeds for %d: %v", len(paths), len(caught), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := runMutant(t, path)
			found := regexp.MustCompile(`seed (\d+): .*`).FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("no seed notices it:\n%s", out)
			}
			if t.Log(found[0]); found[1] != caught[name] {
				t.Errorf("seed %s notices it, want %s", found[1], caught[name])
			}
		})
	}
}

// runMutant runs the test that a mutant names, with the mutant in place.
func runMutant(t *testing.T, path string) string {
	t.Helper()
	m := mutant.Apply(t, "../../..", path)
	place, test, found := strings.Cut(m.Head["caught by"], " ")
	if !found {
		t.Fatalf("%s does not say what notices it", path)
	}
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^"+test+"$", "-overlay", m.Overlay, "./"+place)
	run.Dir = "../../.."
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatal("nothing notices it")
	}
	return string(out)
}
