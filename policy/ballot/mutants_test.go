package ballot_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// mostMutantSeeds is how many seeds may pass before a mutant is caught: the rarest fail in one of thousands.
const mostMutantSeeds = 40_000

// TestMutantsAreCaught keeps the checkers honest: each file in testdata/mutants breaks one rule in the text of one or more source files, for one
// build by the toolchain's overlay, and a hunt must notice. The old text occurs once in its file, which is named from policy/. The file's last line of
// words names the gates in which it is noticed, each with the seed that notices it. If that seed does not any more, the next ones are tried.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			what, program := buildMutant(t, path)
			caught := regexp.MustCompile(`(?m)^Caught by (.*)\.$`).FindStringSubmatch(what)
			if caught == nil {
				t.Fatalf("it is not said which gates notice it: %s", what)
			}
			for by := range strings.SplitSeq(caught[1], ", ") {
				gate, seed, _ := strings.Cut(by, " ")
				out, _ := exec.CommandContext(t.Context(), program, "-test.run=^TestHunt$", "-ballot.gate", gate, "-ballot.seed", seed,
					"-ballot.seeds", strconv.Itoa(mostMutantSeeds)).CombinedOutput()
				found := regexp.MustCompile(`seed \d+: .*`).Find(out)
				if found == nil {
					t.Fatalf("%s: %d seeds do not notice it: %s\n%s", gate, mostMutantSeeds, what, out)
				}
				t.Logf("%s: %s", gate, found)
			}
		})
	}
}

// buildMutant builds the tests with the mutant in the sources.
func buildMutant(t *testing.T, path string) (what, program string) {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) == 0 || len(a.Files)%2 != 0 {
		t.Fatalf("%s is not a whole mutant: %v", path, err)
	}
	dir := t.TempDir()
	texts, replace := map[string]string{}, map[string]string{}
	for i := 0; i < len(a.Files); i += 2 {
		name, _ := strings.CutSuffix(a.Files[i].Name, " old")
		source, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil || a.Files[i+1].Name != name+" new" {
			t.Fatalf("%s: %s is not replaced: %v", path, name, err)
		}
		text, ok := texts[source]
		if !ok {
			read, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			text = string(read)
		}
		before, after := strings.TrimSuffix(string(a.Files[i].Data), "\n"), strings.TrimSuffix(string(a.Files[i+1].Data), "\n")
		if n := strings.Count(text, before); n != 1 {
			t.Fatalf("the old text occurs %d times in %s, and must once; bring the mutant up to date", n, name)
		}
		texts[source] = strings.Replace(text, before, after, 1)
		replace[source] = filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
	}
	for source, text := range texts {
		if err := os.WriteFile(replace[source], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay := filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "hunt")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not build: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(a.Comment)), program
}
