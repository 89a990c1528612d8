package wander_test

import (
	"encoding/json"
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
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wanderd/wanderd/sim/hunt"
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
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	mutants := make([]mutant, len(paths))
	t.Run("each", func(t *testing.T) {
		for i, path := range paths {
			mutants[i] = readMutant(t, path)
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
				t.Parallel()
				mutants[i].hunt(t, root)
			})
		}
	})
	if t.Failed() || slices.ContainsFunc(mutants, func(m mutant) bool { return m.seed == 0 }) {
		return // Or only some of them were asked for.
	}
	for _, area := range areas() {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.area == area }) {
			t.Errorf("there is no mutant of %s", area)
		}
	}
	compareMutants(t, mutants)
}

// areas are the parts of the protocol of which each must have a mutant.
func areas() []string {
	return []string{"handoff", "removal", "regeneration", "guardians", "slots", "demand", "state", "wire"}
}

func compareMutants(t *testing.T, mutants []mutant) {
	t.Helper()
	slices.SortStableFunc(mutants, func(a, b mutant) int {
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

// mutant is one known-bad variant of the protocol.
type mutant struct {
	area, file, wrong, old, new string
	// seed is the first one that notices, and checker who does.
	seed    int
	checker string
}

func readMutant(t *testing.T, path string) mutant {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m mutant
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if area, ok := strings.CutPrefix(line, "area: "); ok {
			m.area = area
		} else if file, ok := strings.CutPrefix(line, "file: "); ok {
			m.file = file
		} else {
			m.wrong = strings.TrimSpace(m.wrong + " " + line)
		}
	}
	for _, f := range a.Files {
		switch text := strings.TrimSuffix(string(f.Data), "\n"); f.Name {
		case "old":
			m.old = text
		case "new":
			m.new = text
		}
	}
	if m.wrong == "" || m.file == "" || !slices.Contains(areas(), m.area) || m.old == "" || m.old == m.new {
		t.Fatalf("%s is not a whole mutant: %+v", path, m)
	}
	return m
}

// hunt builds a hunt with the mutant in it, and lets it run until somebody notices.
func (m *mutant) hunt(t *testing.T, root string) {
	t.Helper()
	program := m.build(t, root)
	run := exec.CommandContext(t.Context(), program, strconv.Itoa(maxMutantSeeds))
	out, err := run.Output()
	if err != nil {
		t.Fatalf("the hunt fails: %v", err)
	}
	seed, rule, noticed := strings.Cut(string(out), " ")
	if !noticed {
		t.Fatalf("%d seeds do not notice it: %s", maxMutantSeeds, m.wrong)
	}
	if m.seed, err = strconv.Atoi(seed); err != nil {
		t.Fatal(err)
	}
	m.checker, _, _ = strings.Cut(rule, ":")
	t.Logf("seed %s", out)
}

func (m *mutant) build(t *testing.T, root string) (program string) {
	t.Helper()
	source := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("the old text occurs %d times in %s, and must once; bring the mutant up to date", n, m.file)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(source))
	overlay := filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		changed: strings.Replace(string(text), m.old, m.new, 1), overlay: string(replace),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "hunt")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./testdata/hunt")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not build: %v\n%s", err, out)
	}
	return program
}
