package config

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// reading is the layers of one test. A file that is not empty is wanderd.toml in the working directory, and is read.
type reading struct {
	file  string
	env   []string
	flags map[string][]string
}

func (r reading) read(t *testing.T) *Layers {
	t.Helper()
	t.Chdir(t.TempDir())
	flags, set := settings.Flags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddTo(set, Table())
	for key, texts := range r.flags {
		for _, text := range texts {
			if err := set.Set(Table().Find(key).Flag(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.file != "" {
		if err := os.WriteFile("wanderd.toml", []byte(r.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := set.Set("config", "wanderd.toml"); err != nil {
			t.Fatal(err)
		}
	}
	return Read(flags, append([]string{"HOME=/home/somebody"}, r.env...))
}

// problemsOf returns the problems of an error.
func problemsOf(err error) []string {
	if invalid, ok := errors.AsType[*settings.Invalid](err); ok {
		return invalid.Problems
	}
	return nil
}

func TestListsAddUpWithinALayerOnly(t *testing.T) {
	l := reading{
		file: "join = [\"a\"]\n", env: []string{"WANDERD_JOIN=b, c:1"},
		flags: map[string][]string{"join": {"d", "e,f"}},
	}.read(t)
	if got := strings.Join(l.Agent.Join, " "); got != "d:7946 e:7946 f:7946" {
		t.Error(got)
	}
	l = reading{file: "join = [\"a\"]\n", env: []string{"WANDERD_JOIN=b, c:1"}}.read(t)
	if got := strings.Join(l.Agent.Join, " "); got != "b:7946 c:1" {
		t.Error(got)
	}
}

func TestDefaultsThatDependOnOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		in     reading
		key    string
		want   string
		origin string
	}{
		{"bind without a secret", reading{}, "bind", "127.0.0.1:7946", "default: without a secret"},
		{
			"bind with a secret",
			reading{env: []string{"WANDERD_SECRET_FILE=s"}},
			"bind", "[::]:7946",
			"default: with a secret",
		},
		{"bind insecure", reading{env: []string{"WANDERD_INSECURE=true"}}, "bind", "[::]:7946", "default: insecure"},
		{
			"bind with a port alone",
			reading{env: []string{"WANDERD_BIND=:7000"}},
			"bind", "127.0.0.1:7000",
			"WANDERD_BIND",
		},
		{
			"the same, insecure",
			reading{env: []string{"WANDERD_BIND=:7000", "WANDERD_INSECURE=1"}},
			"bind", "[::]:7000",
			"WANDERD_BIND",
		},
		{
			"bind with a host alone",
			reading{env: []string{"WANDERD_BIND=10.0.0.7"}},
			"bind", "10.0.0.7:7946",
			"WANDERD_BIND",
		},
		{
			"advertise without a port",
			reading{env: []string{"WANDERD_BIND=:7000", "WANDERD_ADVERTISE=10.0.0.7"}},
			"advertise", "10.0.0.7:7000", "WANDERD_ADVERTISE",
		},
		{"alone", reading{env: []string{"WANDERD_JOIN=a"}}, "alone", "auto", "default"},
		{
			"socket",
			reading{env: []string{"WANDERD_STATE_DIR=/var/x"}},
			"socket", "/var/x/wanderd.sock",
			"default: in state_dir",
		},
		{
			"hook_timeout",
			reading{env: []string{"WANDERD_MIN_INTERVAL=3m"}},
			"hook_timeout", "3m",
			"default: min_interval",
		},
	} {
		l := c.in.read(t)
		if err := l.Err(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if s := l.Find(c.key); s.Value.Plain() != c.want || s.Origin.String() != c.origin {
			t.Errorf("%s: %v from %s, want %s from %s", c.name, s.Value.Plain(), s.Origin, c.want, c.origin)
		}
	}
}

func TestUnknownVariablesGiveWarnings(t *testing.T) {
	l := reading{env: []string{"WANDERD_OPP=1s", "WANDERD_BANANA=1", "WANDERD_GATE_=", "WANDER=1"}}.read(t)
	want := []string{
		"the environment variable WANDERD_BANANA is not a setting: it is ignored",
		"the environment variable WANDERD_OPP is not a setting: did you mean \"WANDERD_OP\"?",
	}
	if err := l.Err(); err != nil || !slices.Equal(l.Warnings, want) {
		t.Errorf("%v\n%s", err, strings.Join(l.Warnings, "\n"))
	}
	l = reading{env: []string{"WANDERD_HELD=1", "WANDERD_SEQ=17", "WANDERD_GATE=default"}}.read(t)
	if len(l.Warnings) != 0 {
		t.Errorf("inside a hook: %v", l.Warnings)
	}
}

func TestAnUnreadableSettingIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		in   reading
		want []string
	}{
		{
			"unknown key",
			reading{file: "\n# min_intervall\nmin_intervall = \"1s\"\n"},
			[]string{`wanderd.toml:3: unknown key "min_intervall": did you mean "min_interval"?`},
		},
		{
			"unknown key in a gate",
			reading{file: "[[gate]]\nname = \"a\"\nhok = \"./a\"\n"},
			[]string{`wanderd.toml:3: unknown key "hok" in [[gate]]: did you mean "hook"?`},
		},
		{
			"dashes",
			reading{file: "min-interval = \"1s\"\n"},
			[]string{`wanderd.toml:1: unknown key "min-interval": did you mean "min_interval"?`},
		},
		{
			"capitals",
			reading{file: "Bind = \":1\"\n"},
			[]string{`wanderd.toml:1: unknown key "Bind": did you mean "bind"?`},
		},
		{
			"nothing like it",
			reading{file: "banana_split = 1\n"},
			[]string{`wanderd.toml:1: unknown key "banana_split": "wanderd config show" lists the keys`},
		},
		{
			"a table that is none",
			reading{file: "[[gates]]\nname = \"a\"\n"},
			[]string{`wanderd.toml:1: unknown key "gates": did you mean "gate"?`},
		},
		{
			"one pair of brackets",
			reading{file: "[gate]\nname = \"a\"\n"},
			[]string{
				`wanderd.toml:1: gate is a table: begin each gate with a header [[gate]], in two pairs of brackets`,
			},
		},
		{
			"gate as text",
			reading{file: "gate = \"a\"\n"},
			[]string{`wanderd.toml:1: gate is text: begin each gate with a header [[gate]], in two pairs of brackets`},
		},
		{
			"gate as texts",
			reading{file: "gate = [\"a\"]\n"},
			[]string{`wanderd.toml:1: gate holds text: want tables, each under a header [[gate]]`},
		},
		{
			"setting of the agent in a gate",
			reading{file: "[[gate]]\nname = \"a\"\nbind = \":1\"\n"},
			[]string{`wanderd.toml:3: "bind" is not a setting of a gate: move it to the top of the file, before the ` +
				`first [[gate]]`},
		},
		{
			"config",
			reading{file: "config = \"other.toml\"\n"},
			[]string{`wanderd.toml:1: "config" cannot be set in a file: pass --config`},
		},
		{
			"syntax",
			reading{file: "op = \"4s\"\nskip = \n"},
			[]string{`wanderd.toml:2: expected value but found '\n' instead`},
		},
		{
			"number for a duration",
			reading{file: "op = 5\n"},
			[]string{`wanderd.toml:1: op is a number: a duration needs a unit and quotes, as in "5s" or "5m"`},
		},
		{
			"array for a duration",
			reading{file: "op = []\n"},
			[]string{`wanderd.toml:1: op is an array: want a duration in quotes, as in "10m"`},
		},
		{
			"no unit",
			reading{file: "\nop = \"5\"\n"},
			[]string{`wanderd.toml:2: op: "5" has no unit: write 5s for seconds, 5m for minutes, 5h for hours or 5d ` +
				`for days`},
		},
		{
			"no unit in a flag",
			reading{flags: map[string][]string{"op": {"5"}}},
			[]string{`--op: "5" has no unit: write 5s for seconds, 5m for minutes, 5h for hours or 5d for days`},
		},
		{
			"no unit in a variable",
			reading{env: []string{"WANDERD_OP=5"}},
			[]string{`WANDERD_OP: "5" has no unit: write 5s for seconds, 5m for minutes, 5h for hours or 5d for days`},
		},
		{
			"number out of its range",
			reading{file: "backups = 7\n"},
			[]string{`wanderd.toml:1: backups: "7" is not a whole number from 0 to 4`},
		},
		{
			"number below its range, in a variable",
			reading{env: []string{"WANDERD_BACKUPS=-1"}},
			[]string{`WANDERD_BACKUPS: "-1" is not a whole number from 0 to 4`},
		},
		{
			"number below a range that begins at one",
			reading{file: "slots = 0\n"},
			[]string{`wanderd.toml:1: slots: "0" is neither a number from 1 to 64 nor a share from 1% to 100%`},
		},
		{
			"number above what a gate can have",
			reading{file: "slots = 65\n"},
			[]string{`wanderd.toml:1: slots: "65" is neither a number from 1 to 64 nor a share from 1% to 100%`},
		},
		{
			"word for a number",
			reading{flags: map[string][]string{"backups": {"two"}}},
			[]string{`--backups: "two" is not a whole number from 0 to 4`},
		},
		{
			"text for a number",
			reading{file: "backups = \"2\"\n"},
			[]string{`wanderd.toml:1: backups is text: want a whole number, without quotes`},
		},
		{
			"part of a number",
			reading{file: "[[gate]]\nname = \"a\"\nbackups = 1.5\n"},
			[]string{`wanderd.toml:3: backups is a number: want a whole number, without quotes`},
		},
		{
			"text for a truth",
			reading{file: "insecure = \"true\"\n"},
			[]string{`wanderd.toml:1: insecure is text: want true or false, without quotes`},
		},
		{
			"no truth in a variable",
			reading{env: []string{"WANDERD_INSECURE=maybe"}},
			[]string{`WANDERD_INSECURE: "maybe" is neither true nor false`},
		},
		{
			"number for text",
			reading{file: "name = 1\n"},
			[]string{`wanderd.toml:1: name is a number: want text in quotes`},
		},
		{
			"date for text",
			reading{file: "name = 2026-01-01\n"},
			[]string{`wanderd.toml:1: name is a date or time: want text in quotes`},
		},
		{
			"text for a list",
			reading{file: "join = \"a\"\n"},
			[]string{`wanderd.toml:1: join is text: want an array of texts, as in ["10.0.0.7"]`},
		},
		{
			"numbers in a list",
			reading{file: "join = [1]\n"},
			[]string{`wanderd.toml:1: join is an array of other things than texts: want an array of texts, as in ` +
				`["10.0.0.7"]`},
		},
		{
			"number for a hook",
			reading{file: "hook = 1\n"},
			[]string{
				`wanderd.toml:1: hook is a number: want text, or an array of texts, as in ["./sync.sh", "--fast"]`,
			},
		},
		{
			"zero",
			reading{
				file: "max_interval = \"0s\"\n", env: []string{"WANDERD_SKIP=0s"},
				flags: map[string][]string{"stop_timeout": {"0d"}},
			},
			[]string{
				`wanderd.toml:1: max_interval: "0s" must be greater than 0: leave it out for the default, the ` +
					`longest of 3 × min_interval, 3 × members × op and two laps`,
				`WANDERD_SKIP: "0s" must be greater than 0: leave it out for the default, 1s`,
				`--stop-timeout: "0d" must be greater than 0: leave it out for the default, 20s`,
			},
		},
		{
			"empty",
			reading{flags: map[string][]string{"secret_file": {""}}},
			[]string{`--secret-file: the value is empty: give one, or leave the setting out`},
		},
		{
			"empty element",
			reading{flags: map[string][]string{"join": {"a,,b"}}},
			[]string{`--join: an element is empty: remove it`},
		},
		{
			"empty hook",
			reading{file: "hook = []\n"},
			[]string{`wanderd.toml:1: hook: the program is missing: name it, and its arguments`},
		},
		{
			"shell in a hook",
			reading{flags: map[string][]string{"hook": {"a && b"}}},
			[]string{`--hook: "a && b": position 3: '&' means something only to a shell, and none runs: put it in ` +
				`single quotes, or ask for a shell: sh -c '…'`},
		},
		{
			"choice",
			reading{flags: map[string][]string{"log_format": {"jsn"}}},
			[]string{`--log-format: unknown value "jsn": did you mean "json"?`},
		},
		{
			"choice far off",
			reading{file: "alone = \"sometimes\"\n"},
			[]string{`wanderd.toml:1: alone: unknown value "sometimes": choose auto, run or wait`},
		},
		{
			"policy",
			reading{file: "[[gate]]\nname = \"a\"\npolicy = \"rings\"\n"},
			[]string{`wanderd.toml:3: policy: unknown value "rings": did you mean "ring"?`},
		},
		{
			"bind",
			reading{flags: map[string][]string{"bind": {"myhost:1"}}},
			[]string{
				`--bind: "myhost:1": "myhost" is not an IP address: write one of this host's own, as in 10.0.0.7:7946`,
			},
		},
		{
			"bind port",
			reading{flags: map[string][]string{"bind": {":70000"}}},
			[]string{`--bind: ":70000": the port "70000" is not a number from 0 to 65535`},
		},
		{
			"advertise",
			reading{flags: map[string][]string{"advertise": {"0.0.0.0"}}},
			[]string{`--advertise: "0.0.0.0": 0.0.0.0 is not the address of a host: write the one by which others ` +
				`reach this one`},
		},
		{
			"join",
			reading{file: "join = [\"good\",\n \"http://bad\"]\n"},
			[]string{`wanderd.toml:1: join: cannot join "http://bad": it has a /: want host or host:port alone`},
		},
		{
			"gate without a name",
			reading{file: "[[gate]]\nhook = \"./a\"\n"},
			[]string{`wanderd.toml:1: this gate has no name: give it one, the same on every host`},
		},
		{
			"gates with the names of directories",
			reading{file: "[[gate]]\nname = \".\"\n[[gate]]\nname = \"..\"\n"},
			[]string{
				`wanderd.toml:2: name: "." is a directory in every path: give the gate a name with a letter or a digit`,
				`wanderd.toml:4: name: ".." is a directory in every path: ` +
					`give the gate a name with a letter or a digit`,
			},
		},
		{
			"gate with a bad name",
			reading{file: "[[gate]]\nname = \"My Gate\"\n"},
			[]string{
				`wanderd.toml:2: name: "My Gate" cannot name a gate: use 1 to 64 of a-z, 0-9, '-', '_' and '.', ` +
					`and a star at the end for a pattern`,
			},
		},
		{
			"gate twice",
			reading{file: "[[gate]]\nname = \"a\"\n[[gate]]\nname = \"a\"\n"},
			[]string{`wanderd.toml:4: name: the gate "a" already exists in line 1: rename one of them`},
		},
		{
			"ready that is no command, and a timeout of nothing",
			reading{file: "ready = true\nready_timeout = \"0s\"\n"},
			[]string{
				`wanderd.toml:1: ready is true or false: ` +
					`want text, or an array of texts, as in ["./sync.sh", "--fast"]`,
				`wanderd.toml:2: ready_timeout: "0s" must be greater than 0: leave it out for the default, 30s`,
			},
		},
		{
			"ready_timeout without a unit",
			reading{file: "ready_timeout = \"30\"\n"},
			[]string{`wanderd.toml:1: ready_timeout: "30" has no unit: write 30s for seconds, 30m for minutes, 30h ` +
				`for hours or 30d for days`},
		},
		{
			"no such file",
			reading{flags: map[string][]string{"config": {"missing.toml"}}},
			[]string{`the configuration file missing.toml does not exist: check --config`},
		},
		{
			"directory",
			reading{flags: map[string][]string{"config": {"."}}},
			[]string{`the configuration file: read .: it is not a regular file (a directory): name another file with ` +
				`--config`},
		},
		{
			"all at once",
			reading{
				file: "opp = \"1s\"\nskip = 1\nbind = \"x\"\n", env: []string{"WANDERD_OP=1"},
				flags: map[string][]string{"alone": {"x"}},
			},
			[]string{
				`wanderd.toml:1: unknown key "opp": did you mean "op"?`,
				`wanderd.toml:2: skip is a number: a duration needs a unit and quotes, as in "1s" or "1m"`,
				`WANDERD_OP: "1" has no unit: write 1s for seconds, 1m for minutes, 1h for hours or 1d for days`,
				`--alone: unknown value "x": choose auto, run or wait`,
				`wanderd.toml:3: bind: "x": "x" is not an IP address: ` +
					`write one of this host's own, as in 10.0.0.7:7946`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problemsOf(c.in.read(t).Err()); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
