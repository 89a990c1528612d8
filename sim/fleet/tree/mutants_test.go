package tree

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
	"consults-for-ever":              "26",
	"i-idle-holder-without-position": "64",
	"ii-any-position":                "8",
	"ii-left-the-queue":              "117",
	"iii-next-not-said":              "1367",
	"iv-next-not-asked":              "296",
	"no-election":                    "296",
	"number-of-before":               "2",
	"v-blind-for-ever":               "344",
	"vi-requests-not-numbered":       "25",
	"vii-token-on-its-way":           "8",
	"winner-only":                    "550",
}

// Every mutant leaves one rule out, is Figure 2 as printed where that is wrong, or breaks a rule of this package: a change to the text of one
// source file, made for one build. TestNoSeedBreaksARule notices each, at the seed that stands here.
func TestEveryMutantIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) != len(caught) {
		t.Errorf("%d mutants, and seeds for %d: %v", len(paths), len(caught), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
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

// runMutant runs the hunt with a mutant in place.
func runMutant(t *testing.T, path string) string {
	t.Helper()
	m := mutant.Apply(t, "../../..", path)
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-run", "^TestNoSeedBreaksARule$", "-overlay", m.Overlay, ".")
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatal("nothing notices it")
	}
	return string(out)
}
