package mutant

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

//nolint:gochecknoglobals // flags of tests
var (
	// A program with mutants fails all the time, so it reduces only on request.
	reduces = flag.Bool("reduce", os.Getenv(variable) == "", "make the scenario of a seed that fails smaller")
	keeps   = flag.Bool("mutants.reduce", false,
		"make the scenario of each mutant's seed smaller, and keep it in testdata/scenarios")
)

// scenarios is the folder of scenarios that are kept, keptTest the test that runs them.
const scenarios, keptTest = "testdata/scenarios", "TestKeptScenarios"

// Reduces reports whether what fails is to be made smaller.
func Reduces() bool { return *reduces }

// Reduced writes a scenario that was made smaller to a file, and returns it with how to see it again.
func Reduced(t testing.TB, smaller func() string) string {
	t.Helper()
	if !Reduces() {
		return ""
	}
	text := smaller()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("scenario-%d.toml", os.Getpid()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("smaller:\n\n%s\ntrace:   wanderd sim trace --scenario %s\n", text, path)
}

// EachScenario explores each scenario in testdata/scenarios.
func EachScenario(t *testing.T, explore func(content map[string]any) error) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(scenarios, "*.toml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d scenarios: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".toml"), func(t *testing.T) {
			var content map[string]any
			if _, err := toml.DecodeFile(path, &content); err != nil {
				t.Fatal(err)
			}
			if err := explore(content); err != nil {
				t.Error(err)
			}
		})
	}
}

// keep reduces the scenario of a seed that notices the mutant, and keeps it if the program without mutants passes.
func (m *Mutant) keep(r runner, by *notice) {
	r.t.Helper()
	out, _ := r.run(m.number, append(explore(by.seed, 1), "-reduce")...)
	found := regexp.MustCompile(`(?s)smaller:\s*\n(.*\n)\s*trace: `).FindStringSubmatch(out)
	if found == nil {
		r.t.Logf("seed %s was not made smaller", by.seed)
		return
	}
	path := filepath.Join(r.dir, scenarios, m.Name+".toml")
	text := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(found[1], "") // The test's output is indented.
	text = strings.TrimSpace(text) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	kept := runner{r.t, r.program, r.dir, keptTest}.part(m.Name + "$")
	if sound, passed := kept.run(0); !passed {
		r.t.Logf("without the mutant, this breaks a rule, too:\n%s\n%s", text, sound)
		if err := os.Rename(path, filepath.Join(os.TempDir(), "unsound-"+m.Name+".toml")); err != nil {
			r.t.Fatal(err)
		}
	}
}

// kept returns the kept scenario that notices the mutant, if there is one.
func (m *Mutant) kept(dir string) (all []notice) {
	text, err := os.ReadFile(filepath.Join(dir, scenarios, m.Name+".toml"))
	if rule, _, ok := strings.Cut(strings.TrimPrefix(string(text), "# "), ":"); err == nil && ok {
		all = append(all, notice{test: keptTest, part: m.Name + "$", rule: rule + ":"})
	}
	return all
}
