package settings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

func TestAPipeIsRefusedAtOnce(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(pipe, "the scenario", "scenario"); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestAFileThatNestsTooDeepIsRefusedUnread(t *testing.T) {
	deep := func(open, inside, end string) string {
		return strings.Repeat(open, 20_000) + inside + strings.Repeat(end, 20_000)
	}
	for _, text := range []string{
		"x = " + deep("[", "", "]"), "x = " + deep("{a=", "1", "}"), "x" + deep(".a", "", "") + " = 1",
		"[x" + deep(".a", "", "") + "]", deep("[", "x", "]"),
	} {
		path := write(t, "op = '''\n[[[[[[[[[[[[[[[[[[[[' .................... \n''' # [[[[[[[[[[[[[[[[[[[[\n\n"+text+
			"\n")
		if _, err := ReadFile(path, "the scenario", "scenario"); err == nil ||
			!strings.HasPrefix(err.Error(), path+":5: this nests deeper") {
			t.Errorf("%.20s: %.300v", text, err)
		}
	}
	shallow := write(t, "a.b.c.d = [[[[{e = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, "+
		"14.5, 15.5, 16.5, 17.5, 18.5]}]]]]\n")
	if _, err := ReadFile(shallow, "the scenario", "scenario"); err != nil {
		t.Error(err)
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
