package wander_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownFiles are the files of each component. Only they read and write its fields.
var ownFiles = map[string][]string{
	"consent":  {"consent.go"},
	"custody":  {"custody.go"},
	"loss":     {"loss.go", "create.go", "inquire.go", "census.go", "regenerate.go"},
	"measures": {"measures.go"},
	"passed":   {"passed.go"},
	"reunion":  {"reunion.go"},
	"walker":   {"walk.go", "share.go"},
}

func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all[path], err = parser.ParseFile(token.NewFileSet(), path, src, 0); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// fieldsOf returns the fields of each struct type: their names and the names of their types.
func fieldsOf(files map[string]*ast.File) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				fields := map[string]string{}
				for _, field := range s.Fields.List {
					kind, _ := field.Type.(*ast.Ident)
					for _, name := range field.Names {
						fields[name.Name] = ""
						if kind != nil {
							fields[name.Name] = kind.Name
						}
					}
				}
				all[spec.Name.Name] = fields
			}
			return true
		})
	}
	return all
}

// The machine and the other components ask a component by its methods.
func TestOnlyItsOwnFilesTouchAComponent(t *testing.T) {
	files := sources(t)
	fields := fieldsOf(files)
	components := map[string]string{} // by the field of the machine
	for name, kind := range fields["Machine"] {
		if ownFiles[kind] != nil {
			components[name] = kind
		}
	}
	if len(components) != len(ownFiles) {
		t.Fatalf("the machine has the components %v", components)
	}
	for path, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := sel.X.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			kind := components[of.Sel.Name]
			if _, touched := fields[kind][sel.Sel.Name]; kind == "" || !touched {
				return true
			}
			if slices.Contains(ownFiles[kind], path) {
				return true
			}
			t.Errorf("%s reads or writes %s of %s: only %v may", path, sel.Sel.Name, kind, ownFiles[kind])
			return true
		})
	}
}
