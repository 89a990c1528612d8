package mutant

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	foreign     = flag.Int("foreign", 0, "draw so many foreign mutants, and write who notices them")
	foreignSeed = flag.Uint64("foreign.seed", 1, "which mutants are drawn")
	foreignHunt = flag.Int("foreign.hunt", 300, "how many seeds of each kind a hunt has; 0 means no hunts")
	foreignFor  = flag.Duration("foreign.for", 0, "begin no further mutant after that time; 0 means all")
	foreignPage = flag.String("foreign.page", "", "a file for the tables")
	foreignLeft = flag.String("foreign.left", "", "a file for those that nobody notices")
	recorded    = flag.String("foreign.record", "",
		"a file of what is known already, to which is added; from it a run that was stopped goes on")
	foreignAgain = flag.Bool("foreign.again", false,
		"judge those again that no hunt has noticed, or without hunts those that nobody has; and no others")
)

const equivalentPath = "testdata/equivalent.toml"

// With -foreign 100 the tool draws a hundred mutants of the protocols, and writes which are noticed by a short hunt,
// and which by unit tests.
func TestForeignMutantsAreNoticed(t *testing.T) {
	if *foreign == 0 {
		t.Skip("it takes long: give it -foreign and a number")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	begun, known, r := time.Now(), equivalents(t, equivalentPath), openRecord(t, *recorded)
	all := generate(t, root, foreignFolders())
	t.Logf("%d foreign mutants", len(all))
	drawn := sample(all, *foreign, *foreignSeed)
	set, drawn := compiled(t, root, drawn)
	t.Logf("%d of %d drawn ones compile", len(drawn), *foreign)
	for _, folder := range foreignFolders() {
		t.Cleanup(leavesNothing(filepath.Join(root, filepath.FromSlash(folder))))
	}
	t.Run("each", func(t *testing.T) {
		for _, m := range drawn {
			before, judged := r.of[m.key()]
			if _, same := known[m.equivalent()]; same {
				if !judged {
					r.add(t, m.unnoticed())
				}
				continue
			}
			missed := before.Hunt == "" && (*foreignHunt > 0 || before.Unit == "")
			if judged != *foreignAgain || *foreignAgain && !missed {
				continue
			}
			t.Run(m.At(), func(t *testing.T) {
				t.Parallel()
				if *foreignFor > 0 && time.Since(begun) > *foreignFor {
					return
				}
				v := set.judge(t, m, before, *foreignHunt)
				r.add(t, v)
				t.Logf("%s | %s | hunt: %s | unit: %s | %v s", v.Operator, v.Changed, v.Hunt, v.Unit, v.Seconds)
			})
		}
	})
	tables, left := foreignTables(drawn, r.of, known), survivors(drawn, r.of, known)
	t.Logf("\n%s\n%s", tables, left)
	written(t, *foreignPage, tables)
	written(t, *foreignLeft, left)
}

// What is listed as equivalent is a mutant of the sources as they are.
func TestEachEquivalentMutantCanBeDrawn(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	known, folders := equivalents(t, equivalentPath), map[string]bool{}
	for e := range known {
		folders[filepath.Dir(e.File)] = true
	}
	for _, m := range generate(t, root, slices.Collect(maps.Keys(folders))) {
		delete(known, m.equivalent())
	}
	for e := range known {
		t.Errorf("%s lists what no tool draws: %+v; bring it up to date, or remove it", equivalentPath, e)
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
