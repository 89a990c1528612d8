package settings

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// FuzzTOML: each key of a file that can be read has a line of the file.
func FuzzTOML(f *testing.F) {
	f.Add("op = \"5s\"\n[[gate]]\nname = \"a\"\n[[gate]]\nname = 'b'\n")
	f.Add("a.b = 1\n\"c d\" = [1,\n2]\n[x.\"y\"]\nz = \"\"\"\n=\n\"\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		var content map[string]any
		if len(text) > maxSize {
			return
		}
		if _, err := toml.Decode(text, &content); err != nil {
			return
		}
		found := findLines(text)
		for key := range content {
			if at := found.of(key); at < 0 || at > strings.Count(text, "\n")+1 {
				t.Errorf("%q is in line %d of %q", key, at, text)
			}
		}
	})
}
