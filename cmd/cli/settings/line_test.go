package settings

import (
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestEveryKeyHasItsLine(t *testing.T) {
	const doc = `# op = "1s"
op = "4s" # skip = "1s"

"skip" = '1s'
text = """
min_interval = "1s"
[[gate]]
""quoted"" \""""
literal = '''
max_interval = 1
'''
join = [ # first
  "10.0.0.7", # ] not yet
  "[::1]:7946",
]
dotted.key = 1
inline = { op = 1, list = [1, 2] }

[[gate]]
name = "a"
op = "4s"
[gate.sub]
x = 1
 [[ gate ]] # second
  name   =   "b # c"
["quoted.table"]
last = 1
`
	var content map[string]any
	if _, err := toml.Decode(doc, &content); err != nil {
		t.Fatal(err)
	}
	want := lines{
		"op": 2, "skip": 4, "text": 5, "literal": 9, "join": 12, "dotted": 16, "dotted.key": 16, "inline": 17,
		"inline.op": 17, "inline.list": 17,
		"gate": 19, "gate.0": 19, "gate.0.name": 20, "gate.0.op": 21, "gate.sub": 22, "gate.sub.x": 23,
		"gate.1": 24, "gate.1.name": 25, "quoted": 26, "quoted.table": 26, "quoted.table.last": 27,
	}
	got := findLines(doc)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	for key, line := range map[string]int{"gate.1.inline.op": 24, "dotted": 16, "missing": 1, "inline.list": 17} {
		if got.of(key) != line {
			t.Errorf("%s: line %d, want %d", key, got.of(key), line)
		}
	}
}

func TestWindowsLineEndsCountOnce(t *testing.T) {
	if diff := cmp.Diff(lines{"op": 1, "skip": 3}, findLines("op = \"4s\"\r\n\r\nskip = \"1s\"\r\n")); diff != "" {
		t.Error(diff)
	}
}

// For any bytes at all, the search ends.
func FuzzFindLines(f *testing.F) {
	for _, doc := range []string{"a = '''", "[", "[[", "\"", "a.b = {", "[[a]]\nb = \"\\", "'''"} {
		f.Add(doc)
	}
	f.Fuzz(func(_ *testing.T, doc string) { findLines(doc) })
}
