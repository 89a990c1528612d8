package mutant

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
)

// source is a file with known-bad variants of some of its functions.
type source struct {
	file
	variants map[string][]variant
}

// variant is a function as it is in a mutant.
type variant struct {
	number int
	text   string
}

// file is a text, and the places of its functions.
type file struct {
	text    string
	syntax  *ast.File
	funcs   map[string]*ast.FuncDecl
	inOrder []string
}

func newSource(path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := newFile(string(text))
	return &source{file: f, variants: map[string][]variant{}}, err
}

func newFile(text string) (file, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	f := file{text: text, syntax: syntax, funcs: map[string]*ast.FuncDecl{}}
	for _, d := range syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			name := d.Name.Name
			if d.Recv != nil {
				name = f.between(d.Recv.List[0].Type.Pos(), d.Recv.End()) + "." + name
			}
			f.funcs[name] = d
			f.inOrder = append(f.inOrder, name)
		}
	}
	return f, nil
}

// between returns a part of the text. Positions count from 1, as the text is the only one of its set.
func (f *file) between(from, to token.Pos) string { return f.text[from-1 : to-1] }

func (f *file) function(name string) string {
	return f.between(f.funcs[name].Pos(), f.funcs[name].End())
}

// without returns the text without the named functions.
func (f *file) without(names map[string]bool) string {
	var b strings.Builder
	at := f.syntax.FileStart
	for _, name := range f.inOrder {
		if names[name] {
			b.WriteString(f.between(at, f.funcs[name].Pos()))
			at = f.funcs[name].End()
		}
	}
	return b.String() + f.between(at, f.syntax.FileEnd)
}

// add adds a mutant. It may change only functions, because these can exist twice.
func (s *source) add(number int, c change) error {
	if n := strings.Count(s.text, c.before); n != 1 {
		return fmt.Errorf("the old text occurs %d times in %s, and must once", n, c.source)
	}
	bad, err := newFile(strings.Replace(s.text, c.before, c.after, 1))
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, name := range s.inOrder {
		if bad.funcs[name] != nil && bad.function(name) != s.function(name) {
			changed[name] = true
		}
	}
	if len(changed) == 0 || s.without(changed) != bad.without(changed) {
		return fmt.Errorf("more than the text of functions changes in %s", c.source)
	}
	for name := range changed {
		d := bad.funcs[name]
		text := bad.between(d.Pos(), d.Name.Pos()) + numbered(d.Name.Name, number) + bad.between(d.Name.End(), d.End())
		s.variants[name] = append(s.variants[name], variant{number, text})
	}
	return nil
}

func numbered(name string, number int) string { return fmt.Sprintf("%s__%d", name, number) }

// switched returns the text in which each function that mutants change calls the variant of the chosen one. Its lines
// keep their numbers.
func (s *source) switched() string {
	inserts := map[token.Pos]string{s.syntax.Name.End(): `; import mutant__chosen ` +
		`"github.com/wanderd/wanderd/lab/mutant/chosen"`}
	var variants strings.Builder
	for _, name := range s.inOrder {
		all, d := s.variants[name], s.funcs[name]
		if len(all) == 0 {
			continue
		}
		receiver, args := "", named(d.Type.Params, "mutant__p", inserts)
		if d.Recv != nil {
			receiver = named(d.Recv, "mutant__r", inserts)[0] + "."
		}
		var cases strings.Builder
		for _, v := range all {
			call := receiver + numbered(d.Name.Name, v.number) + "(" + strings.Join(args, ", ") + ")"
			if d.Type.Results == nil {
				fmt.Fprintf(&cases, " case %d: %s; return;", v.number, call)
			} else {
				fmt.Fprintf(&cases, " case %d: return %s;", v.number, call)
			}
			fmt.Fprintf(&variants, "\n\n%s", v.text)
		}
		inserts[d.Body.Lbrace+1] = " switch mutant__chosen.Number {" + cases.String() + " };"
	}
	var b strings.Builder
	at := s.syntax.FileStart
	for _, pos := range slices.Sorted(maps.Keys(inserts)) {
		b.WriteString(s.between(at, pos) + inserts[pos])
		at = pos
	}
	return b.String() + s.between(at, s.syntax.FileEnd) + variants.String() + "\n"
}

// named returns the names of parameters as arguments of a call, and gives names to parameters without one.
func named(params *ast.FieldList, prefix string, inserts map[token.Pos]string) []string {
	var args []string
	for _, field := range params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		names := []string{}
		for _, name := range field.Names {
			if name.Name == "_" {
				// "_" becomes a part of the name.
				own := fmt.Sprintf("%s%d", prefix, len(args)+len(names))
				inserts[name.Pos()] = own
				names = append(names, own+"_")
			} else {
				names = append(names, name.Name)
			}
		}
		if len(field.Names) == 0 {
			own := fmt.Sprintf("%s%d", prefix, len(args))
			inserts[field.Type.Pos()] = own + " "
			names = append(names, own)
		}
		if variadic {
			names[len(names)-1] += "..."
		}
		args = append(args, names...)
	}
	return args
}
