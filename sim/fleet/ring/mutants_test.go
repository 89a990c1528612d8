package ring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
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
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) != 2 {
		t.Fatalf("%d parts: %v", len(a.Files), err)
	}
	lines := strings.Split(string(a.Comment), "\n")
	file, caught := strings.TrimPrefix(lines[0], "file: "), strings.TrimPrefix(lines[1], "caught: ")
	source, err := filepath.Abs(filepath.Join("../../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	was, becomes := string(a.Files[0].Data), string(a.Files[1].Data)
	if n := strings.Count(string(text), was); n != 1 {
		t.Fatalf("the old text occurs %d times in %s, and must once", n, file)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(text), was, becomes, 1), overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"test", "-count=1", "-vet=off", "-overlay", overlay, "-timeout", "2m"}
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
