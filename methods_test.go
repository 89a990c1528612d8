package wanderd_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A type with many methods is many things with one name. Some of its fields and the rules for them should become a
// component, which knows only what it is given.
func TestTypesHaveNotTooManyMethods(t *testing.T) {
	for _, of := range []struct {
		dir, name string
		most      int
	}{
		{"agent", "Agent", 55},
		{"agent/gate", "Gate", 115},
	} {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(of.dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		method, n := regexp.MustCompile(`(?m)^func \(\w* ?\*?`+of.name+`\) `), 0
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				n += len(method.FindAllString(read(t, file), -1))
			}
		}
		if n == 0 || n > of.most {
			t.Errorf("%s.%s has %d methods, and at most %d are allowed", of.dir, of.name, n, of.most)
		}
	}
}
