package mutant

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// EachIsCaught checks every mutant in a folder, of a module whose root is given. Its line "caught by" has the package and the test that fails
// with the mutant in place, and more arguments of that; "seed" is the one that the failing test names, if it names any:
//
//	file: policy/ring/recount.go
//	caught by: sim/fleet/ring TestSeedsBreakNoRule -first 966 -seeds 1
//	seed: 966
func EachIsCaught(t *testing.T, root, folder string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			isCaught(t, root, path)
		})
	}
}

func isCaught(t *testing.T, root, path string) {
	t.Helper()
	m := Apply(t, root, path)
	by := strings.Fields(m.Head["caught by"])
	if len(by) < 2 {
		t.Fatalf("%s does not say what notices it", path)
	}
	args := append([]string{"test", "-count=1", "-vet=off", "-overlay", m.Overlay, "-run", "^" + by[1] + "$", "./" + by[0]}, by[2:]...)
	run := exec.CommandContext(t.Context(), "go", args...)
	run.Dir = root
	out, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL") {
		t.Fatalf("%s does not notice it: %v\n%s", by[1], err, out)
	}
	found := regexp.MustCompile(`seed (\d+): .*`).FindStringSubmatch(string(out))
	switch want, seeded := m.Head["seed"]; {
	case found == nil && seeded:
		t.Errorf("no seed notices it:\n%s", out)
	case found != nil && found[1] != want:
		t.Errorf("seed %s notices it, want %s: %s", found[1], want, found[0])
	}
}
