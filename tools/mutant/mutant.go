// Package mutant puts a known-bad change into one build of a program, so that a test can prove that it is noticed. Nothing in the product
// knows of it: the change is an overlay of the toolchain.
//
// A mutant is a txtar file. Its comment begins with lines of the form "key: value", of which "file" names the source, and says what is wrong;
// then come the parts "old", a text that occurs once in the source, and "new", the text in its place.
package mutant

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Mutant is one known-bad variant, ready to be built.
type Mutant struct {
	// Head has the lines "key: value".
	Head map[string]string
	// Wrong says in words what is wrong.
	Wrong string
	// Overlay is the path for the flag -overlay of go build and go test.
	Overlay string
}

// Apply reads a mutant of a module whose root is given, and writes its overlay. The test fails if the mutant is not whole, or does not fit its
// source any more.
func Apply(t testing.TB, root, path string) Mutant {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) != 2 || a.Files[0].Name != "old" || a.Files[1].Name != "new" {
		t.Fatalf("%s is not a whole mutant: %v", path, err)
	}
	m := Mutant{Head: map[string]string{}}
	head := regexp.MustCompile(`^([a-z ]+): (\S.*)$`)
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if pair := head.FindStringSubmatch(line); pair != nil && m.Wrong == "" {
			m.Head[pair[1]] = pair[2]
		} else {
			m.Wrong = strings.TrimSpace(m.Wrong + " " + line)
		}
	}
	source, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(m.Head["file"])))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	was, becomes := strings.TrimSuffix(string(a.Files[0].Data), "\n"), strings.TrimSuffix(string(a.Files[1].Data), "\n")
	if n := strings.Count(string(text), was); n != 1 {
		t.Fatalf("the old text occurs %d times in %s, and must once: bring the mutant up to date", n, m.Head["file"])
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	m.Overlay = filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(text), was, becomes, 1), m.Overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}
