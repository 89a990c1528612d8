package mutant

import (
	"cmp"
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

	"github.com/wanderd/wanderd/lab/deep"
)

// The test of a mutant runs it with its own seed only. A hunt looks for the first seed that notices it, and writes that
// into the mutant's file.
//
//nolint:gochecknoglobals // a flag of tests
var hunted = flag.Int("mutants.hunt", 0,
	"look for the first of so many seeds that notices each mutant, and write it into its file")

// Hunting reports whether seeds are searched for, so that the mutants' files may change.
func Hunting() bool { return *hunted > 0 }

// patience is how long one test may take. A mutant may make a machine loop for ever.
const patience = 2 * time.Minute

// EachIsCaught checks every mutant of a set. "caught by" has the package and the test that fails with the mutant in
// place and passes without it. "seed" is the seed that this test explores, by its flags -first and -seeds, if it has
// these flags. "noticed by" names the broken rule:
//
//	file: policy/ring/recount.go
//	caught by: sim/fleet/ring TestSeedsBreakNoRule
//	seed: 966
//
// If several parts of a test notice a mutant, it has a line "seeds: lock 38, tree 35" instead: each part is a subtest
// with a seed of its own. A line "also: TestSmallWorldsExhaustively lock" names another test of the package that
// notices it, without a seed, and its part.
//
// All mutants are in one program for each package that has such a test.
func (set *Set) EachIsCaught(t *testing.T) {
	t.Helper()
	t.Run("each", set.eachIsCaught)
}

func (set *Set) eachIsCaught(t *testing.T) {
	if !Hunting() && !*keeps {
		deep.Only(t, "builds programs with mutants in them")
	}
	programs, dir := map[string]string{}, t.TempDir()
	for _, m := range set.Mutants {
		by := strings.Fields(m.Head["caught by"])
		if len(by) != 2 {
			t.Fatalf("%s does not say what notices it: it needs a line \"caught by: package test\", and, if that "+
				"explores seeds, one \"seed: 1\"; make mutants finds the seed", m.path)
		}
		if pkg := by[0]; programs[pkg] == "" {
			programs[pkg] = filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_"))
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay",
				set.overlay, "-o", programs[pkg], "./"+pkg)
			build.Dir = set.root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s with its mutants does not build: %v\n%s", pkg, err, out)
			}
		}
	}
	for _, m := range set.Mutants {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			pkg, test, _ := strings.Cut(m.Head["caught by"], " ")
			dir := filepath.Join(set.root, filepath.FromSlash(pkg))
			for i := range m.notices {
				n := &m.notices[i]
				r := runner{t, programs[pkg], dir, cmp.Or(n.test, strings.TrimSpace(test))}.part(n.part)
				if *hunted > 0 && n.seed != "" {
					m.hunt(r, n)
				}
				m.isCaught(r, n)
				if *keeps && n.seed != "" {
					m.keep(r, n)
				}
			}
			for _, n := range m.kept(dir) {
				m.isCaught(runner{t, programs[pkg], dir, n.test}.part(n.part), &n)
			}
		})
	}
}

// runner runs one test of a program that contains mutants.
type runner struct {
	t                  *testing.T
	program, dir, test string
}

func (r runner) run(number int, args ...string) (out string, passed bool) {
	r.t.Helper()
	run := exec.CommandContext(r.t.Context(), r.program,
		append([]string{"-test.run", "^" + r.test + "$", "-test.timeout", patience.String()}, args...)...)
	run.Dir = r.dir
	run.Env = append(os.Environ(), variable+"="+strconv.Itoa(number),
		deep.Variable+"="+cmp.Or(os.Getenv(deep.Variable), "1"))
	defer leavesNothing(r.dir)()
	b, err := run.CombinedOutput()
	out = string(b)
	if strings.Contains(out, "no tests to run") || err != nil && !strings.Contains(out, "--- FAIL") {
		r.t.Fatalf("%s does not run: %v\n%s", r.test, err, out)
	}
	return out, err == nil
}

// part returns the same runner for a subtest.
func (r runner) part(name string) runner {
	if name != "" {
		r.test += "$/^" + name
	}
	return r
}

// notice is a part of a test that notices a mutant, and its seed; both may be empty. test is empty, unless it is
// another test. rule is what a kept scenario breaks.
type notice struct{ test, part, seed, rule string }

// noticesOf reads the lines "seed", "seeds" and "also" of a mutant.
func noticesOf(head map[string]string) (all []notice) {
	if test, part, ok := strings.Cut(head["also"], " "); ok {
		all = append(all, notice{test: test, part: part})
	}
	if head["seeds"] == "" {
		return append(all, notice{seed: head["seed"]})
	}
	for each := range strings.SplitSeq(head["seeds"], ", ") {
		part, seed, _ := strings.Cut(each, " ")
		all = append(all, notice{part: part, seed: seed})
	}
	return all
}

func explore(first string, seeds int) []string {
	return []string{"-first", first, "-seeds", strconv.Itoa(seeds)}
}

// isCaught checks that the mutant is noticed, by what its file names, and that its seed shows nothing without it. A
// test without a seed says itself whether it passes without the mutant, wherever all tests run.
func (m *Mutant) isCaught(r runner, by *notice) {
	r.t.Helper()
	var args []string
	want := by.rule
	if by.seed != "" {
		args, want = explore(by.seed, 1), "seed "+by.seed+": "
		if rule := m.Head["noticed by"]; rule != "" {
			want += rule + ":"
		}
	}
	if by.test == "" && by.seed != "" {
		if out, passed := r.run(0, args...); !passed {
			r.t.Errorf("%s fails without a mutant: %v\n%s", r.test, args, out)
		}
	}
	if out, passed := r.run(m.number, args...); passed || !strings.Contains(out, want) {
		r.t.Errorf("%s does not notice with %q that: %s; make mutants looks for another seed\n%s", r.test, want,
			m.Wrong, out)
	}
}

// hunt looks for the first seed that notices the mutant, and writes it into its file.
func (m *Mutant) hunt(r runner, by *notice) {
	r.t.Helper()
	out, _ := r.run(m.number, explore("1", *hunted)...)
	found := regexp.MustCompile(`seed (\d+): ([a-z]*)`).FindStringSubmatch(out)
	if found == nil {
		r.t.Logf("none of %d seeds notices it: it stays with seed %s", *hunted, by.seed)
		return
	}
	by.seed = found[1]
	now := map[string]string{"seed": found[1], "noticed by": found[2], "seeds": seedsLine(m.notices)}
	text, err := os.ReadFile(m.path)
	if err != nil {
		r.t.Fatal(err)
	}
	written := string(text)
	for key, is := range now {
		if was, ok := m.Head[key]; ok {
			written = strings.Replace(written, fmt.Sprintf("\n%s: %s\n", key, was), fmt.Sprintf("\n%s: %s\n", key, is),
				1)
			m.Head[key] = is
		}
	}
	if err := os.WriteFile(m.path, []byte(written), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func seedsLine(all []notice) string {
	var each []string
	for _, n := range all {
		if n.test == "" {
			each = append(each, n.part+" "+n.seed)
		}
	}
	return strings.Join(each, ", ")
}
