package mutant

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Foreign is a mutant that nobody has thought of: a tool has changed one place of a function.
type Foreign struct {
	// Operator is how it was changed, At is where, "policy/call/wait.go:12", and Was is the place before.
	Operator, At, Was string
	number            int
	change            change
}

// place is one place of a function that can be changed. change changes it, and undo changes it back.
type place struct {
	operator     string
	node         ast.Node
	change, undo func()
}

// places returns all places of a function.
func places(f *ast.FuncDecl) (all []place) {
	add := func(operator string, node ast.Node, change, undo func()) {
		all = append(all, place{operator, node, change, undo})
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			was := n.Cond
			add("negate a condition", was, func() {
				n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: was}}
			}, func() { n.Cond = was })
		case *ast.BinaryExpr:
			was := *n
			back := func() { *n = was }
			bounds := map[token.Token]token.Token{
				token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
			}
			sums := map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD}
			switch text, _ := n.X.(*ast.BasicLit); {
			case n.Op == token.LAND, n.Op == token.LOR:
				always := ast.NewIdent(strconv.FormatBool(n.Op == token.LAND))
				add("drop a term", n, func() { n.X = always }, back)
				add("drop a term", n, func() { n.Y = always }, back)
			case bounds[n.Op] != 0:
				add("move a bound", n, func() { n.Op = bounds[was.Op] }, back)
			case sums[n.Op] != 0 && (text == nil || text.Kind != token.STRING):
				add("plus for minus", n, func() { n.Op = sums[was.Op] }, back)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "min" || name.Name == "max") {
				was := name.Name
				add("min for max", n, func() { name.Name = map[string]string{"min": "max", "max": "min"}[was] },
					func() { name.Name = was })
			}
		case *ast.BasicLit:
			if count, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				was := n.Value
				add("wrong constant", n, func() { n.Value = strconv.Itoa(count + 1) }, func() { n.Value = was })
			}
		case *ast.BlockStmt:
			skips(n.List, add)
		case *ast.CaseClause:
			skips(n.Body, add)
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				if name, ok := n.Results[0].(*ast.Ident); ok && (name.Name == "true" || name.Name == "false") {
					was := name.Name
					add("wrong answer", n, func() { name.Name = strconv.FormatBool(was != "true") },
						func() { name.Name = was })
				}
			}
		}
		return true
	})
	return all
}

// skips adds the assignments in a list: without one, the value before stays.
func skips(list []ast.Stmt, add func(operator string, node ast.Node, change, undo func())) {
	for i, s := range list {
		assign, ok := s.(*ast.AssignStmt)
		_, counts := s.(*ast.IncDecStmt)
		if ok && assign.Tok != token.DEFINE || counts {
			never := &ast.IfStmt{Cond: ast.NewIdent("false"), Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
			add("skip an assignment", s, func() { list[i] = never }, func() { list[i] = s })
		}
	}
}

// Generate returns so many foreign mutants of the sources in those folders, drawn with a seed, as a set.
func Generate(t testing.TB, root string, folders []string, sample int, seed uint64) (*Set, []*Foreign) {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Foreign
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if !strings.HasSuffix(path, "_test.go") {
				all = append(all, foreignOf(t, root, path)...)
			}
		}
	}
	t.Logf("%d foreign mutants in %s", len(all), strings.Join(folders, ", "))
	dice := rand.New(rand.NewPCG(seed, 0))
	dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	chosen := all[:min(sample, len(all))]
	return compiled(t, root, chosen)
}

// foreignOf returns all foreign mutants of a source.
func foreignOf(t testing.TB, root, path string) (all []*Foreign) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	write := func(n any) string {
		var b bytes.Buffer
		if err := format.Node(&b, token.NewFileSet(), n); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "String" {
			continue
		}
		before := string(text[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
		f.Doc = nil
		for _, p := range places(f) {
			line, was := set.Position(p.node.Pos()).Line, write(p.node)
			p.change()
			after := write(f)
			p.undo()
			all = append(all, &Foreign{
				Operator: p.operator, At: fmt.Sprintf("%s:%d", filepath.ToSlash(name), line), Was: was,
				change: change{source: path, before: before, after: after},
			})
		}
	}
	return all
}

// compiled numbers the mutants and leaves out those that do not compile.
func compiled(t testing.TB, root string, all []*Foreign) (*Set, []*Foreign) {
	t.Helper()
	for i, m := range all {
		m.number = i + 1
	}
	for {
		set, sources := &Set{root: root}, map[string]*source{}
		for _, m := range all {
			s := sources[m.change.source]
			if s == nil {
				var err error
				if s, err = newSource(m.change.source); err != nil {
					t.Fatal(err)
				}
				sources[m.change.source] = s
			}
			if err := s.add(m.number, m.change); err != nil {
				t.Logf("%s: %v", m.At, err)
				m.number = 0
			}
		}
		set.write(t, sources)
		build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", set.overlay, "./policy/...")
		build.Dir = root
		out, err := build.CombinedOutput()
		bad := map[int]bool{0: true}
		if err != nil {
			wrong := regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)
			for _, at := range wrong.FindAllStringSubmatch(string(out), -1) {
				line, _ := strconv.Atoi(at[2])
				for path, s := range sources { // The compiler names the file in the overlay.
					if name, _ := filepath.Rel(root, path); overlaid(name) == filepath.Base(at[1]) {
						bad[s.variantAt(line)] = true
					}
				}
			}
			if len(bad) == 1 {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		before := len(all)
		all = slices.DeleteFunc(all, func(m *Foreign) bool { return bad[m.number] })
		if err == nil && len(all) == before {
			return set, all
		}
	}
}

// variantAt returns the mutant whose variant of a function is in a line of the switched source.
func (s *source) variantAt(line int) (number int) {
	begins := regexp.MustCompile(`^func .*?__(\d+)[\[(]`)
	for i, text := range strings.Split(s.switched(), "\n") {
		if i >= line {
			break
		}
		if found := begins.FindStringSubmatch(text); found != nil {
			number, _ = strconv.Atoi(found[1])
		}
	}
	return number
}

// Suite is a test of a package, and its flags, that may notice a mutant.
type Suite struct {
	Package string
	Args    []string
}

// Noticed runs suites with a mutant until one of them fails, and returns what has failed, or an empty text. A suite
// that takes longer than most has noticed it, too.
func (set *Set) Noticed(t testing.TB, m *Foreign, most time.Duration, suites []Suite) string {
	t.Helper()
	for _, s := range suites {
		program := filepath.Join(filepath.Dir(set.overlay), strings.ReplaceAll(s.Package, "/", "_")+".test")
		if _, err := os.Stat(program); err != nil {
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay",
				set.overlay, "-o", program, "./"+s.Package)
			build.Dir = set.root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s with its mutants does not build: %v\n%s", s.Package, err, out)
			}
		}
		args := append([]string{"-test.timeout", most.String(), "-test.failfast"}, s.Args...)
		run := exec.CommandContext(t.Context(), program, args...)
		run.Dir = filepath.Join(set.root, s.Package)
		run.Env = append(os.Environ(), variable+"="+strconv.Itoa(m.number))
		if out, err := run.CombinedOutput(); err != nil {
			return s.Package + " " + reason(string(out))
		}
	}
	return ""
}

// reason returns the broken rule, or the test that has failed.
func reason(out string) string {
	if found := regexp.MustCompile(`seed \d+: ([a-z]+)`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	if found := regexp.MustCompile(`--- FAIL: (\S+)`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	return "time"
}
