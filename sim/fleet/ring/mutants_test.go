package ring

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/tools/mutant"
)

// Every mutant leaves one rule out that the paper lacks: a change to the text of one source file, made for one build. It names the test of
// package policy/ring that fails, or the seed of TestSeedsBreakNoRule.
func TestEveryMutantIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { runMutant(t, path) })
	}
}

func runMutant(t *testing.T, path string) {
	t.Helper()
	m := mutant.Apply(t, "../../..", path)
	caught := m.Head["caught"]
	args := []string{"test", "-count=1", "-vet=off", "-overlay", m.Overlay, "-timeout", "2m"}
	if _, err := strconv.Atoi(caught); err == nil {
		args = append(args, "-run", "^TestSeedsBreakNoRule$", ".", "-first", caught, "-seeds", "1")
	} else {
		args = append(args, "-run", "^"+caught+"$", "../../../policy/ring")
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL") {
		t.Errorf("%s does not notice it: %v\n%s", caught, err, out)
	}
}
