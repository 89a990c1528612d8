package mutant

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"hash/fnv"
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
	// File and Line are where it was changed, Func is the function. Operator is how it was changed. Was and Now are the
	// place before and after.
	File, Func, Operator, Was, Now string
	Line                           int
	number                         int
	change                         change
}

// key names a mutant for as long as its function stays as it is.
func (m *Foreign) key() string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.File + "\n" + m.change.before + "\n" + m.change.after))
	return strconv.FormatUint(h.Sum64(), 16)
}

// At returns the place as "policy/call/wait.go:12".
func (m *Foreign) At() string { return m.File + ":" + strconv.Itoa(m.Line) }

// change says in one line what was changed.
func (m *Foreign) changed() string {
	if m.Now == "" {
		return m.Was
	}
	return m.Was + " -> " + m.Now
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

// generate returns all foreign mutants of the sources in those folders.
func generate(t testing.TB, root string, folders []string) (all []*Foreign) {
	t.Helper()
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
	return all
}

// sample draws so many of the mutants with a seed. What is drawn of a function does not depend on the others.
func sample(all []*Foreign, most int, seed uint64) []*Foreign {
	rank := map[*Foreign]uint64{}
	for _, m := range all {
		h := fnv.New64a()
		_, _ = h.Write([]byte(m.key()))
		rank[m] = rand.New(rand.NewPCG(seed, h.Sum64())).Uint64()
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Foreign) int { return cmp.Compare(rank[a], rank[b]) })
	return all[:min(most, len(all))]
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
			now, after := write(p.node), write(f)
			p.undo()
			if now == was { // The node is the statement that is skipped, or a condition that is wrapped.
				now = ""
			}
			all = append(all, &Foreign{
				File: filepath.ToSlash(name), Func: f.Name.Name, Line: line, Operator: p.operator,
				Was: oneLine(was), Now: oneLine(now),
				change: change{source: path, before: before, after: after},
			})
		}
	}
	return all
}

// oneLine returns a text of a source in one line, which is not long.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 160 {
		text = text[:157] + "..."
	}
	return text
}

// compiled numbers the mutants and leaves out those that do not compile.
func compiled(t testing.TB, root string, all []*Foreign) (*Set, []*Foreign) {
	t.Helper()
	for i, m := range all {
		m.number = i + 1
	}
	for {
		set, sources := &Set{root: root, took: map[string]time.Duration{}}, map[string]*source{}
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
				t.Logf("%s: %v", m.At(), err)
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
