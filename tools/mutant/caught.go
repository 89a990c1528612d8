package mutant

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test of a mutant runs it with its own seed only. A hunt looks for the first seed that notices it, and writes that into the mutant's file.
var hunted = flag.Int("mutants.hunt", 0, "look for the first of so many seeds that notices each mutant, and write it into its file") //nolint:gochecknoglobals // a flag of tests

// Hunting says that seeds are looked for, so that what is written of them may change.
func Hunting() bool { return *hunted > 0 }

// patience is how long one test may take. A mutant may make a machine turn round for ever.
const patience = 2 * time.Minute

// EachIsCaught checks every mutant of a set. "caught by" has the package and the test that fails with the mutant in place, and passes
// without; "seed" is the one that this test explores, by its flags -first and -seeds, if it has any; "noticed by" names the rule that is broken:
//
//	file: policy/ring/recount.go
//	caught by: sim/fleet/ring TestSeedsBreakNoRule
//	seed: 966
//
// All mutants are in one program for each package that has such a test.
func (set *Set) EachIsCaught(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs with mutants in them")
	}
	programs, dir := map[string]string{}, t.TempDir()
	for _, m := range set.Mutants {
		by := strings.Fields(m.Head["caught by"])
		if len(by) != 2 {
			t.Fatalf("%s does not say what notices it: it needs a line \"caught by: package test\", and, if that explores seeds, one \"seed: 1\"; make mutants finds the seed", m.path)
		}
		if pkg := by[0]; programs[pkg] == "" {
			programs[pkg] = filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_"))
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", set.overlay, "-o", programs[pkg], "./"+pkg)
			build.Dir = set.root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s with its mutants does not build: %v\n%s", pkg, err, out)
			}
		}
	}
	t.Run("each", func(t *testing.T) {
		for _, m := range set.Mutants {
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				pkg, test, _ := strings.Cut(m.Head["caught by"], " ")
				r := runner{t, programs[pkg], filepath.Join(set.root, filepath.FromSlash(pkg)), strings.TrimSpace(test)}
				if *hunted > 0 && m.Head["seed"] != "" {
					m.hunt(r)
				}
				m.isCaught(r)
			})
		}
	})
}

// runner runs one test of a program that has mutants in it.
type runner struct {
	t                  *testing.T
	program, dir, test string
}

func (r runner) run(number int, args ...string) (out string, passed bool) {
	r.t.Helper()
	run := exec.CommandContext(r.t.Context(), r.program, append([]string{"-test.run", "^" + r.test + "$", "-test.timeout", patience.String()}, args...)...)
	run.Dir = r.dir
	run.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	b, err := run.CombinedOutput()
	out = string(b)
	if strings.Contains(out, "no tests to run") || err != nil && !strings.Contains(out, "--- FAIL") {
		r.t.Fatalf("%s does not run: %v\n%s", r.test, err, out)
	}
	return out, err == nil
}

func explore(first string, seeds int) []string {
	return []string{"-first", first, "-seeds", strconv.Itoa(seeds)}
}

// isCaught holds that the mutant is noticed, and by what its file says; and that nothing is noticed without it.
func (m *Mutant) isCaught(r runner) {
	r.t.Helper()
	var args []string
	want := ""
	if seed := m.Head["seed"]; seed != "" {
		args, want = explore(seed, 1), "seed "+seed+": "
		if rule := m.Head["noticed by"]; rule != "" {
			want += rule + ":"
		}
	}
	if out, passed := r.run(0, args...); !passed {
		r.t.Errorf("%s fails without a mutant: %v\n%s", r.test, args, out)
	}
	if out, passed := r.run(m.number, args...); passed || !strings.Contains(out, want) {
		r.t.Errorf("%s does not notice with %q that: %s; make mutants looks for another seed\n%s", r.test, want, m.Wrong, out)
	}
}

// hunt looks for the first seed that notices the mutant, and writes it into its file.
func (m *Mutant) hunt(r runner) {
	r.t.Helper()
	out, _ := r.run(m.number, explore("1", *hunted)...)
	found := regexp.MustCompile(`seed (\d+): ([a-z]*)`).FindStringSubmatch(out)
	if found == nil {
		r.t.Logf("none of %d seeds notices it: it stays with seed %s", *hunted, m.Head["seed"])
		return
	}
	text, err := os.ReadFile(m.path)
	if err != nil {
		r.t.Fatal(err)
	}
	written := string(text)
	for i, key := range []string{"seed", "noticed by"} {
		if was, ok := m.Head[key]; ok {
			written = strings.Replace(written, fmt.Sprintf("\n%s: %s\n", key, was), fmt.Sprintf("\n%s: %s\n", key, found[i+1]), 1)
			m.Head[key] = found[i+1]
		}
	}
	if err := os.WriteFile(m.path, []byte(written), 0o644); err != nil {
		r.t.Fatal(err)
	}
}
