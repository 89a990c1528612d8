package tomlfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysComeByLine(t *testing.T) {
	f, err := Read(write(t, "op = 1\n[b]\nz = 1\na = 2\n[a]\n"), "the file", "file")
	if err != nil {
		t.Fatal(err)
	}
	table, _ := f.Content["b"].(map[string]any)
	if top, sub := f.Keys("", f.Content), f.Keys("b.", table); !slices.Equal(top, []string{"op", "b", "a"}) ||
		!slices.Equal(sub, []string{"z", "a"}) {
		t.Errorf("%v, %v", top, sub)
	}
	if f.Line("b.a") != 4 {
		t.Errorf("line %d", f.Line("b.a"))
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	huge := write(t, strings.Repeat("# nothing\n", maxSize/10+1))
	broken := write(t, "op = 1\nskip =\n")
	folder := t.TempDir()
	for path, want := range map[string]string{
		huge:               "the scenario " + huge + " has more than 1048576 bytes: is it the right one?",
		broken:             broken + ":2: ",
		folder:             "the scenario: read " + folder,
		folder + "/a.toml": "the scenario " + folder + "/a.toml does not exist: check --scenario",
	} {
		if _, err := Read(path, "the scenario", "scenario"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTypesHaveNamesForPeople(t *testing.T) {
	for want, value := range map[string]any{
		"text": "a", "a number": int64(1), "true or false": true, "a table": map[string]any{}, "an array": []any{"a"},
		"an array of other things than texts": []any{"a", int64(1)}, "a date or time": time.Time{},
	} {
		if got := KindOf(value); got != want {
			t.Errorf("%v is %s, want %s", value, got, want)
		}
	}
}
