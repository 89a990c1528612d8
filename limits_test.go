package wanderd_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/limits.md")

const (
	limitsPage     = "docs/limits.md"
	limitsTemplate = "docs/limits.md.tmpl"
)

// The page of limits gives the same numbers as the code.
func TestLimitsPageHasTheConstants(t *testing.T) {
	c := constants{t: t, seen: map[string]map[string]constant.Value{}}
	page, err := template.New("limits").Funcs(template.FuncMap{
		"n":     func(name string) string { return grouped(c.of(name)) },
		"bytes": func(name string) string { return inBytes(c.of(name)) },
		"product": func(a, b string) string {
			return grouped(c.of(a) * c.of(b))
		},
		"rate": func(name string) string { return grouped(int64(time.Second)/max(c.of(name), 1)) + " a second" },
		"time": func(name string, unit ...string) string {
			d := time.Duration(c.of(name))
			if len(unit) > 0 {
				d *= time.Second
			}
			return inWords(d)
		},
		"days": func(name string) string { return grouped(c.of(name)/int64(24*time.Hour)) + " days" },
	}).Parse(read(t, limitsTemplate))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, nil); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(limitsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(read(t, limitsPage), b.String()); d != "" {
		t.Errorf("%s is not what the constants say (-page +constants); rewrite it with "+
			"go test . -run LimitsPage -update\n%s", limitsPage, d)
	}
}

// constants are the constants of packages, found by "room.name": in the room itself or, if it is not there, in a
// package below it.
type constants struct {
	t    *testing.T
	seen map[string]map[string]constant.Value
	fset *token.FileSet
	// from reads what the compiler has exported of the packages that a package imports.
	from types.Importer
}

// of returns the value of a constant: a number, or a time in nanoseconds.
func (c *constants) of(name string) int64 {
	c.t.Helper()
	dot := strings.LastIndex(name, ".")
	room, short := name[:dot], name[dot+1:]
	value, ok := c.in(room)[short]
	if !ok {
		var found []string
		for _, below := range folders(c.t, room) {
			if v, is := c.in(below)[short]; is {
				value, found = v, append(found, below)
			}
		}
		if len(found) != 1 {
			c.t.Errorf("the constant %s is in %q: say in %s what it is called now", name, found, limitsTemplate)
			return 1
		}
	}
	n, exact := constant.Int64Val(constant.ToInt(value))
	if !exact {
		c.t.Errorf("the constant %s is %s", name, value)
	}
	return n
}

// in returns the constants of a package.
func (c *constants) in(dir string) map[string]constant.Value {
	c.t.Helper()
	if c.seen[dir] != nil {
		return c.seen[dir]
	}
	if c.from == nil {
		c.fset = token.NewFileSet()
		c.from = importer.ForCompiler(c.fset, "gc", exported(c.t))
	}
	found := map[string]constant.Value{}
	c.seen[dir] = found
	var files []*ast.File
	for _, name := range sources(c.t, dir) {
		file, err := parser.ParseFile(c.fset, filepath.Join(filepath.FromSlash(dir), name), nil, 0)
		if err != nil {
			c.t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return found
	}
	how := types.Config{Importer: c.from, FakeImportC: true}
	checked, err := how.Check(path.Join(module, dir), c.fset, files, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range checked.Scope().Names() {
		if k, ok := checked.Scope().Lookup(name).(*types.Const); ok {
			found[name] = k.Val()
		}
	}
	return found
}

// sources returns the files of a package on this system.
func sources(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", `{{join .GoFiles "\n"}}`, "./"+dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// folders returns the packages below one.
func folders(t *testing.T, dir string) []string {
	t.Helper()
	var below []string
	for _, p := range list(t, "./"+dir+"/...") {
		if p.local() != dir {
			below = append(below, p.local())
		}
	}
	return below
}

// exported finds what the compiler has exported of a package.
func exported(t *testing.T) importer.Lookup {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export", "./agent/...",
		"./cmd/...")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	files := map[string]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return func(name string) (io.ReadCloser, error) {
		if files[name] == "" {
			return nil, fmt.Errorf("nothing is exported of %s; of %d packages it is", name, len(files))
		}
		return os.Open(files[name])
	}
}

// grouped writes a number with commas.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func inBytes(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return grouped(n) + " bytes"
}

func inWords(d time.Duration) string {
	switch {
	case d == 24*time.Hour:
		return "a day"
	case d == time.Minute:
		return "a minute"
	case d >= time.Second:
		return fmt.Sprintf("%g s", d.Seconds())
	}
	return fmt.Sprintf("%g ms", float64(d)/float64(time.Millisecond))
}

func TestNumbersInLimitsAreReadable(t *testing.T) {
	for got, want := range map[string]string{
		grouped(7): "7", grouped(1000): "1,000", grouped(1 << 20): "1,048,576",
		inBytes(97): "97 bytes", inBytes(1500): "1,500 bytes", inBytes(8 << 10): "8 KiB", inBytes(4 << 20): "4 MiB",
		inWords(1500 * time.Millisecond): "1.5 s", inWords(250 * time.Millisecond): "250 ms",
		inWords(24 * time.Hour): "a day",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
