package mutant

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	foreign     = flag.Int("foreign", 0, "generate so many mutants, and write who notices them")
	foreignSeed = flag.Uint64("foreign.seed", 1, "which mutants are drawn")
	foreignPage = flag.String("foreign.page", "", "the file of the result, which is judged by hand then")
)

// suites returns the hunts that may notice a mutant of a package, and the unit tests, its own and those of its users.
func suites(pkg string) (hunts, units []Suite) {
	call := Suite{"sim/fleet/call", []string{"-test.run", "^TestNoSeedBreaksARule$", "-first=1", "-seeds=150"}}
	wander := Suite{"sim/fleet/wander", []string{"-test.run", "^TestSeedsBreakNoRule$", "-first=1", "-seeds=150"}}
	unit := func(names ...string) (all []Suite) {
		for _, name := range names {
			all = append(all, Suite{"policy/" + name, nil})
		}
		return all
	}
	switch name := path.Base(pkg); name {
	case "call":
		return []Suite{call}, unit("call")
	case "wander":
		return []Suite{wander}, unit("wander")
	default:
		return []Suite{call, wander}, unit(name, "call", "wander")
	}
}

// With -foreign 100 the tool draws a hundred mutants of the protocols, and writes which are noticed by a short hunt,
// and which by unit tests.
func TestForeignMutantsAreNoticed(t *testing.T) {
	if *foreign == 0 {
		t.Skip("it takes long: give it -foreign and a number")
	}
	folders := []string{
		"policy/call", "policy/wander", "policy/guardian", "policy/handoff", "policy/soft",
	}
	set, all := Generate(t, "../..", folders, *foreign, *foreignSeed)
	hunts, units, either := 0, 0, 0
	var left strings.Builder
	for k, m := range all {
		byHunts, byUnits := suites(path.Dir(m.At))
		hunt := set.Noticed(t, m, 4*time.Minute, byHunts)
		unit := set.Noticed(t, m, 4*time.Minute, byUnits)
		was := strings.Join(strings.Fields(m.Was), " ")
		t.Logf("%d | %s | %s | %s | hunt: %s | unit: %s", k+1, m.At, m.Operator, was, hunt, unit)
		if hunt != "" {
			hunts++
		}
		if unit != "" {
			units++
		}
		if hunt+unit != "" {
			either++
			continue
		}
		fmt.Fprintf(&left, "| `%s` | %s | `%s` |\n", m.At, m.Operator, was)
	}
	text := fmt.Sprintf("%d mutants: %d noticed by hunts, %d by unit tests, %d by either\n\n%s", len(all), hunts, units,
		either, left.String())
	t.Log(text)
	if *foreignPage != "" {
		if err := os.WriteFile(*foreignPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachOperatorChangesOnePlace(t *testing.T) {
	const text = `package a

func f(a, b int) (c bool) {
	if a < b && c {
		a = min(a, 2) + b
	}
	return true
}
`
	root := t.TempDir()
	file := filepath.Join(root, "a.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	did := map[string]int{}
	for _, m := range foreignOf(t, root, file) {
		did[m.Operator]++
		if m.change.before == m.change.after || !strings.Contains(text, m.change.before) {
			t.Errorf("%s changes nothing, or what is not there: %q", m.Operator, m.change.after)
		}
	}
	want := map[string]int{
		"negate a condition": 1, "drop a term": 2, "move a bound": 1, "min for max": 1, "plus for minus": 1,
		"wrong constant": 1, "skip an assignment": 1, "wrong answer": 1,
	}
	if !maps.Equal(did, want) {
		t.Errorf("%v, want %v", did, want)
	}
}
