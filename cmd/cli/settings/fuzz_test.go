package settings

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// FuzzTOML: each key of a file that can be read has a line of the file, and nothing in it nests too deep.
func FuzzTOML(f *testing.F) {
	f.Add("op = \"5s\"\n[[gate]]\nname = \"a\"\n[[gate]]\nname = 'b'\n")
	f.Add("a.b = 1\n\"c d\" = [1,\n2]\n[x.\"y\"]\nz = \"\"\"\n=\n\"\"\"\n")
	f.Add("[a.b]\nc.d = [{e.f = [[\"[[[\", '{{{']]}] # [[[\n[[g.h.i]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		var content map[string]any
		if len(text) > maxSize || nestsAt(text) > 0 {
			return
		}
		if _, err := toml.Decode(text, &content); err != nil {
			return
		}
		const header, brackets = maxNesting + 2, maxNesting * (maxNesting + 2)
		if deep := nesting(content); deep > header+brackets+maxNesting+1 {
			t.Errorf("%d levels in %q", deep, text)
		}
		found := findLines(text)
		for key := range content {
			if at := found.of(key); at < 0 || at > strings.Count(text, "\n")+1 {
				t.Errorf("%q is in line %d of %q", key, at, text)
			}
		}
	})
}

// nesting is how deep a value nests.
func nesting(value any) (deepest int) {
	var parts []any
	switch v := value.(type) {
	case map[string]any:
		parts = slices.Collect(maps.Values(v))
	case []map[string]any:
		for _, m := range v {
			parts = append(parts, m)
		}
	case []any:
		parts = v
	default:
		return 0
	}
	for _, part := range parts {
		deepest = max(deepest, nesting(part))
	}
	return deepest + 1
}
