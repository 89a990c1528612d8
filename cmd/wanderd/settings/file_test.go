package settings

import (
	"os"
	"path/filepath"
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
		if _, err := ReadFile(path, "the scenario", "scenario"); err == nil || !strings.HasPrefix(err.Error(), want) {
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
