package wander_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/sim/hunt"
	"github.com/wanderd/wanderd/tools/mutant"
)

var update = flag.Bool("update", false, "write docs/mutants.md and the runs in README.md anew")

// mutantsPage is what the test keeps true.
const mutantsPage = "../../../docs/mutants.md"

const mutantsIntro = `# Mutants

A checker that never objects proves nothing. So the protocol is broken on purpose, in one place at a time, and the bug finder
has to notice: each seed draws a fleet and what goes wrong in it, from 1 on. The last column is the first seed whose run breaks
a rule; a hunt has %d unless told otherwise.

Written by ` + "`go test ./sim/fleet/wander -run Mutants -update`" + ` from ` + "`sim/fleet/wander/testdata/mutants`" + `.

| area | the mutant | who notices | after seeds |
|---|---|---|---:|
`

// maxMutantSeeds is how many seeds may pass before a mutant is noticed.
const maxMutantSeeds = 2000

// TestMutantsAreCaught keeps the checkers honest: each file in testdata/mutants breaks one rule of the protocol, and a hunt
// must notice. A mutant is a change to the text of one source file, made for one build by the toolchain's overlay, so that
// nothing in the product knows of it:
//
//	area: removal
//	file: policy/wander/arrive.go
//	what is wrong
//	-- old --
//	text that occurs once in the file
//	-- new --
//	text in its place
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds one program for each mutant")
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	mutants := make([]variant, len(paths))
	t.Run("each", func(t *testing.T) {
		for i, path := range paths {
			mutants[i] = readVariant(t, path)
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
				t.Parallel()
				mutants[i].hunt(t)
			})
		}
	})
	if t.Failed() || slices.ContainsFunc(mutants, func(m variant) bool { return m.seed == 0 }) {
		return // Or only some of them were asked for.
	}
	for _, area := range areas() {
		if !slices.ContainsFunc(mutants, func(m variant) bool { return m.area == area }) {
			t.Errorf("there is no mutant of %s", area)
		}
	}
	compareMutants(t, mutants)
}

// areas are the parts of the protocol of which each must have a mutant.
func areas() []string {
	return []string{"handoff", "removal", "regeneration", "guardians", "slots", "demand", "retry", "windows", "orders", "ready", "state", "wire"}
}

func compareMutants(t *testing.T, mutants []variant) {
	t.Helper()
	slices.SortStableFunc(mutants, func(a, b variant) int {
		return slices.Index(areas(), a.area) - slices.Index(areas(), b.area)
	})
	var b strings.Builder
	fmt.Fprintf(&b, mutantsIntro, hunt.DefaultSeeds)
	for _, m := range mutants {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", m.area, m.wrong, m.checker, m.seed)
	}
	if *update {
		if err := os.WriteFile(mutantsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(mutantsPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(page), b.String()); d != "" {
		t.Errorf("docs/mutants.md is not true any longer (-page +found); write it anew with go test ./sim/fleet/wander -run Mutants -update\n%s", d)
	}
}

// variant is one known-bad variant of the protocol.
type variant struct {
	area, wrong, overlay string
	// seed is the first one that notices, and checker who does.
	seed    int
	checker string
}

func readVariant(t *testing.T, path string) variant {
	t.Helper()
	m := mutant.Apply(t, "../../..", path)
	v := variant{area: m.Head["area"], wrong: m.Wrong, overlay: m.Overlay}
	if v.wrong == "" || !slices.Contains(areas(), v.area) {
		t.Fatalf("%s is not a whole mutant: %+v", path, v)
	}
	return v
}

// hunt builds a hunt with the mutant in it, and lets it run until somebody notices.
func (v *variant) hunt(t *testing.T) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hunt")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay", v.overlay, "-o", program, "./testdata/hunt")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not build: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, strconv.Itoa(maxMutantSeeds)).Output()
	if err != nil {
		t.Fatalf("the hunt fails: %v", err)
	}
	seed, rule, noticed := strings.Cut(string(out), " ")
	if !noticed {
		t.Fatalf("%d seeds do not notice it: %s", maxMutantSeeds, v.wrong)
	}
	if v.seed, err = strconv.Atoi(seed); err != nil {
		t.Fatal(err)
	}
	v.checker, _, _ = strings.Cut(rule, ":")
	t.Logf("seed %s", out)
}
