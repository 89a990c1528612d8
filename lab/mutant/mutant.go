// Package mutant puts known-bad changes into one build of a program, so that a test can prove that each is noticed. The
// product does not know them: the changes are an overlay of the toolchain, and an environment variable chooses one when
// the program runs.
//
// A mutant is a txtar file. Its comment begins with lines of the form "key: value", of which "file" names the source;
// then it tells what is wrong. Then come the parts "old", a text that occurs once in the source, in one function or
// more, and "new", the text in its place. A mutant of several sources has such a pair for each, "policy/ring/ring.go
// old" and "policy/ring/ring.go new".
package mutant

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Mutant is one known-bad variant.
type Mutant struct {
	// Name is the name of its file, without the suffix.
	Name string
	// Head has the lines "key: value".
	Head map[string]string
	// Wrong tells in words what is wrong.
	Wrong string
	// number chooses it in a program that was built with it. Zero chooses the sound program.
	number  int
	path    string
	changes []change
	notices []notice
}

// change is what a mutant changes in a source.
type change struct{ source, before, after string }

// Set is all mutants of a folder.
type Set struct {
	Mutants []*Mutant
	root    string
	// overlay is the path for the flag -overlay of go build and go test.
	overlay string
	// took is how long suites take without a mutant. sounds guards it, and the building of programs.
	took   map[string]time.Duration
	sounds sync.Mutex
}

// Load reads all mutants in a folder of the module with the given root, and prepares their build. The test fails if a
// mutant is incomplete or does not fit its source any more.
func Load(t testing.TB, root, folder string) *Set {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d mutants: %v", len(paths), err)
	}
	set := &Set{root: root}
	sources := map[string]*source{}
	for i, path := range paths {
		m := read(t, root, path)
		m.number = i + 1
		set.Mutants = append(set.Mutants, m)
		for _, c := range m.changes {
			s := sources[c.source]
			if s == nil {
				if s, err = newSource(c.source); err != nil {
					t.Fatal(err)
				}
				sources[c.source] = s
			}
			if err := s.add(m.number, c); err != nil {
				t.Fatalf("%s: %v; bring the mutant up to date", path, err)
			}
		}
	}
	set.write(t, sources)
	return set
}

func read(t testing.TB, root, path string) *Mutant {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) == 0 || len(a.Files)%2 != 0 {
		t.Fatalf("%s is not a whole mutant: %v", path, err)
	}
	m := &Mutant{Name: strings.TrimSuffix(filepath.Base(path), ".txt"), path: path, Head: map[string]string{}}
	head := regexp.MustCompile(`^([a-z ]+): (\S.*)$`)
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if pair := head.FindStringSubmatch(line); pair != nil && m.Wrong == "" {
			m.Head[pair[1]] = pair[2]
		} else {
			m.Wrong = strings.TrimSpace(m.Wrong + " " + line)
		}
	}
	for i := 0; i < len(a.Files); i += 2 {
		name, named := strings.CutSuffix(a.Files[i].Name, " old")
		after := name + " new"
		if !named {
			name, after = m.Head["file"], "new"
		}
		if !named && a.Files[i].Name != "old" || a.Files[i+1].Name != after {
			t.Fatalf("%s is not a whole mutant: %q and %q are no pair of old and new", path, a.Files[i].Name,
				a.Files[i+1].Name)
		}
		m.changes = append(m.changes, change{
			source: filepath.Join(root, filepath.FromSlash(name)),
			before: strings.TrimSuffix(string(a.Files[i].Data), "\n"),
			after:  strings.TrimSuffix(string(a.Files[i+1].Data), "\n"),
		})
	}
	m.notices = noticesOf(m.Head)
	return m
}

// write writes the sources with their switches, the package that tells which mutant is chosen, and the list of all
// these for the toolchain.
func (set *Set) write(t testing.TB, sources map[string]*source) {
	t.Helper()
	dir := t.TempDir()
	texts := map[string]string{filepath.Join(set.root, "lab", "mutant", "chosen", "chosen.go"): chosen}
	for path, s := range sources {
		texts[path] = s.switched()
	}
	replace := map[string]string{}
	for path, text := range texts {
		name, err := filepath.Rel(set.root, path)
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = filepath.Join(dir, overlaid(name))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	set.overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(set.overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
}

// overlaid is the name of a source in the folder of the overlay.
func overlaid(name string) string { return strings.ReplaceAll(name, string(filepath.Separator), "_") }

// variable chooses a mutant by its number when the program runs.
const variable = "WANDERD_MUTANT"

// chosen is the package that all changed sources import.
const chosen = `package chosen

import (
	"os"
	"strconv"
)

var Number, _ = strconv.Atoi(os.Getenv("` + variable + `"))
`
