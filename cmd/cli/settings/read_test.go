package settings

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// machine has the variables that the table of the tests fills.
type machine struct {
	name        string
	size, speed int
	rest, work  time.Duration
	breaks      time.Duration
	stop        *time.Duration
	part        float64
	parts       []string
	fast        bool
}

func (m *machine) table() Table {
	return Table{
		Row("name", Choice(&m.name, "drill", "press", "saw"), "saw", "Its name."),
		Row("size", Count(&m.size, 1, 9), "3", "Its size."),
		Row("speed", Count(&m.speed, 0, 5), "", "Its speed.").Needing("stop_at"),
		Row("rest", Positive(&m.rest), "10m", "How long it rests."),
		Ruled("work", Duration(&m.work), "half of rest", "How long it works."),
		Row("breaks_every", Period(&m.breaks, time.Second), "", "How often it breaks."),
		Row("stop_at", Moment(&m.stop), "", "When it stops."),
		Row("part", Share(&m.part), "50%", "A part of it."),
		Row("parts", List(&m.parts), "", "Its parts."),
		Row("fast", Bool(&m.fast), "false", "Whether it is fast."),
	}
}

// read applies all layers to the table.
func (m *machine) read(t *testing.T, file string, env []string, args ...string) *Reading {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("m.toml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(filepath.Join(".", "m.toml"), "the machine", "machine")
	if err != nil {
		t.Fatal(err)
	}
	flags, set := Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddTo(set, m.table())
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	r := NewReading(m.table(), "machine")
	fromEnv, _ := r.Environ(env, "M_")
	r.Apply(r.Read(f, "", f.Content, func(key string) string { return "unknown key " + key }))
	r.Apply(fromEnv)
	r.Apply(Given(flags))
	r.CheckNeeds()
	r.AtLeast(&m.rest, &m.work, "it would never rest")
	return &r
}

func TestTheHighestLayerGivesTheValueAndIsItsOrigin(t *testing.T) {
	var m machine
	r := m.read(t, "size = 4\nrest = \"1h\"\nparts = [\"a\"]\nstop_at = \"1d\"\n",
		[]string{"M_SIZE=5", "M_PARTS=b,c", "M_FAST="},
		"--size", "6", "--parts", "d", "--parts", "e,f", "--fast", "--size", "7")
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if m.size != 7 || m.rest != time.Hour || strings.Join(m.parts, "") != "def" || !m.fast || m.name != "saw" ||
		*m.stop != 24*time.Hour {
		t.Errorf("%+v", m)
	}
	for key, want := range map[string]string{
		"size": "--size", "rest": "m.toml:2", "stop_at": "m.toml:4", "name": "default", "work": "default: half of rest",
		"breaks_every": "not set",
	} {
		if got := r.Find(key).From(); got != want {
			t.Errorf("%s is from %s, want %s", key, got, want)
		}
	}
	text, err := json.Marshal(r.Table)
	const want = `{"name":"saw","size":7,"speed":0,"rest":"1h","work":"0s","breaks_every":null,` +
		`"stop_at":"1d","part":0.5,` +
		`"parts":["d","e","f"],"fast":true}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\n%s", err, text, want)
	}
}

func TestAllThatIsWrongIsToldAtOnceWithItsPlace(t *testing.T) {
	var m machine
	r := m.read(t, "size = 10\nspeed = 1\n\nsped = 2\nrest = 5\npart = true\nwork = \"20m\"\n",
		[]string{"M_NAME=drlil", "M_BREAKS_EVERY=1ms", "M_PARTS= "}, "--size=2", "--fast=perhaps", "--rest=0s")
	invalid, ok := errors.AsType[*Invalid](r.Err())
	if !ok {
		t.Fatal(r.Err())
	}
	want := []string{
		"m.toml:4: unknown key sped",
		`m.toml:5: rest is a number: a duration needs a unit and quotes, as in "5s" or "5m"`,
		`m.toml:6: part is true or false: want a share, as in 0.01 or "1%"`,
		`m.toml:1: size: "10" is not a whole number from 1 to 9`,
		`M_NAME: unknown value "drlil": did you mean "drill"?`,
		`M_BREAKS_EVERY: "1ms" is below 1s: raise it`,
		`M_PARTS: the value is empty: give one, or leave the setting out`,
		`--rest: "0s" must be greater than 0: leave it out for the default, 10m`,
		`--fast: "perhaps" is neither true nor false`,
		"speed 1 (m.toml:2) has no effect without stop_at: give that too, or leave this out",
	}
	if !slices.Equal(invalid.Problems, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(invalid.Problems, "\n"), strings.Join(want, "\n"))
	}
	if first, _, _ := strings.Cut(invalid.Error(), "\n"); first != "10 problems in the machine" {
		t.Error(first)
	}
}

func TestValuesAreComparedWithTheirOrigins(t *testing.T) {
	var m machine
	r := m.read(t, "work = \"20m\"\n", nil)
	const want = "rest 10m (default) is below work 20m (m.toml:1), so it would never rest: raise rest or lower work"
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
