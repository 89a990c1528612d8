package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestHookAloneIsTheDefaultGate(t *testing.T) {
	l := reading{
		env:   []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=m1"},
		flags: map[ID][]string{Hook: {"/bin/sh -c 'a && b'"}, MinInterval: {"1d"}},
	}.read(t)
	got, err := l.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.GateConfig{{
		Name: "default", Hook: []string{"/bin/sh", "-c", "a && b"}, HookTimeout: 24 * time.Hour,
		Walk: wander.Sweep, Slots: 1, Backups: 2, Skip: time.Second, MinInterval: 24 * time.Hour,
	}}
	if diff := cmp.Diff(want, got.Agent.Gates); diff != "" {
		t.Error(diff)
	}
	c := got.Agent
	if c.Bind.String() != "127.0.0.1:7946" || c.Advertise.IsValid() || c.Alone != agent.AloneAuto || c.Secret != nil ||
		c.Socket != "/var/x/wanderd.sock" || c.StopTimeout != 20*time.Second {
		t.Errorf("%+v", got)
	}
}

// What a table says of a constant is its own; the rest is as at the top, whatever layer that comes from.
func TestConstantsAtTheTopAreTheDefaultsOfGates(t *testing.T) {
	l := reading{
		file: `
op = "5s"
[[gate]]
name = "a"
hook = ["/bin/sh", "a"]
walk = "random"
slots = 3
backups = 0
[[gate]]
name = "b"
hook = "/bin/sh b"
min_interval = "3m"
op = "2s"
max_interval = "1h"
on_lost = "finish"
`,
		env:   []string{"WANDERD_WALK=shuffle", "WANDERD_BACKUPS=4", "WANDERD_MIN_INTERVAL=7m", "WANDERD_STATE_DIR=/var/x"},
		flags: map[ID][]string{Op: {"6s"}, Skip: {"2s"}, OnLost: {"stop"}},
	}.read(t)
	got, err := l.Check()
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.GateConfig{
		{
			Name: "a", Hook: []string{"/bin/sh", "a"}, HookTimeout: 7 * time.Minute,
			Walk: wander.Random, Slots: 3, OnLost: wander.Stop, Skip: 2 * time.Second, Op: 6 * time.Second, MinInterval: 7 * time.Minute,
		},
		{
			Name: "b", Hook: []string{"/bin/sh", "b"}, HookTimeout: 3 * time.Minute,
			Walk: wander.Shuffle, Slots: 1, Backups: 4, Skip: 2 * time.Second, Op: 2 * time.Second, MinInterval: 3 * time.Minute, MaxInterval: time.Hour,
		},
	}
	if diff := cmp.Diff(want, got.Agent.Gates); diff != "" {
		t.Error(diff)
	}
}

func TestWhatDoesNotFitTogetherIsSaidWithTheRemedy(t *testing.T) {
	many := ""
	for i := range membership.MaxGates + 1 {
		many += "[[gate]]\nname = \"g" + string(rune('a'+i)) + "\"\nhook = \"/bin/sh\"\n"
	}
	hooked := func(r reading) reading {
		if r.flags == nil {
			r.flags = make(map[ID][]string)
		}
		if !strings.Contains(r.file, "gate") && r.flags[Hook] == nil {
			r.flags[Hook] = []string{"/bin/sh"}
		}
		return r
	}
	for _, c := range []struct {
		name string
		in   reading
		want []string
	}{
		{
			"nothing",
			reading{env: []string{"WANDERD_HOOK="}, flags: map[ID][]string{Hook: {}}},
			[]string{"nothing to gate: pass --hook ./sync.sh, or a file with [[gate]] tables with --config"},
		},
		{
			"missing hook",
			reading{flags: map[ID][]string{Hook: {"./missing.sh"}}},
			[]string{"--hook: hook ./missing.sh does not exist: check the path (relative paths start at the agent's working directory)"},
		},
		{
			"gate without a hook",
			reading{file: "[[gate]]\nname = \"a\"\n"},
			[]string{`wanderd.toml:1: gate "a" has no hook: give it one, as in hook = ["./sync.sh"]`},
		},
		{
			"hook and gates",
			reading{file: "[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\n", flags: map[ID][]string{Hook: {"/bin/sh"}}},
			[]string{`--hook makes the gate "default", and wanderd.toml:1 describes gates of its own: put the hook into a [[gate]] table with the name "default", or drop the tables`},
		},
		{
			"too many gates",
			reading{file: many},
			[]string{"wanderd.toml:46: this is gate 16, and an agent can have 15: run a second agent for the rest"},
		},
		{
			"min_interval below op",
			reading{flags: map[ID][]string{MinInterval: {"1s"}, Op: {"4s"}}},
			[]string{"min_interval 1s (--min-interval) is below op 4s (--op), so a host would be due again before it has finished: raise min_interval or lower op"},
		},
		{
			"the same in a gate",
			reading{file: "op = \"2s\"\n[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\nmin_interval = \"1s\"\n"},
			[]string{`gate "a": min_interval 1s (wanderd.toml:5) is below op 2s (wanderd.toml:1), so a host would be due again before it has finished: raise min_interval or lower op`},
		},
		{
			"max_interval below min_interval",
			reading{env: []string{"WANDERD_MAX_INTERVAL=1m"}},
			[]string{"max_interval 1m (WANDERD_MAX_INTERVAL) is below min_interval 10m (default), so every host would take the token for lost between two runs: raise max_interval or lower min_interval"},
		},
		{
			"hook_timeout below op",
			reading{env: []string{"WANDERD_HOOK_TIMEOUT=1s", "WANDERD_OP=4s"}},
			[]string{"hook_timeout 1s (WANDERD_HOOK_TIMEOUT) is below op 4s (WANDERD_OP), so a run of typical length would be stopped: raise hook_timeout or lower op"},
		},
		{"no time at all", reading{env: []string{"WANDERD_SKIP=0s", "WANDERD_MAX_INTERVAL=0s", "WANDERD_STOP_TIMEOUT=0s"}}, []string{
			"stop_timeout 0s (WANDERD_STOP_TIMEOUT) is no time at all: leave it out for the default, 20s",
			"skip 0s (WANDERD_SKIP) is no time at all: leave it out for the default, 1s",
			"max_interval 0s (WANDERD_MAX_INTERVAL) is no time at all: leave it out for the default, the longest of 3 × min_interval, 3 × members × op and two laps",
		}},
		{
			"bind without a secret",
			reading{flags: map[ID][]string{Bind: {"0.0.0.0"}}},
			[]string{`--bind: without a secret the agent binds to loopback only, not to 0.0.0.0:7946: give every host the same file with --secret-file ("wanderd keygen --secret" makes one), or say --insecure`},
		},
		{
			"join from loopback",
			reading{flags: map[ID][]string{Join: {"10.0.0.7"}}},
			[]string{`--join: 10.0.0.7:7946 cannot be reached from 127.0.0.1:7946, which this agent is bound to (default: without a secret): give every host the same file with --secret-file ("wanderd keygen --secret" makes one), or say --insecure`},
		},
		{
			"long name",
			reading{flags: map[ID][]string{Name: {strings.Repeat("x", 65)}}},
			[]string{"--name: the name has 65 bytes, and 64 are allowed: choose a shorter one with --name"},
		},
		{
			"name with a line end",
			reading{flags: map[ID][]string{Name: {"a\nb"}}},
			[]string{`--name: the name "a\nb" has characters that cannot be printed: choose another one with --name`},
		},
		{
			"missing secret",
			reading{flags: map[ID][]string{SecretFile: {"/missing/secret"}}},
			[]string{`--secret-file: the secret file /missing/secret is not there: make one with "wanderd keygen --secret", and give all members the same`},
		},
		{"a broken value is not judged again", reading{file: "op = 5\nbind = \"x\"\nsecret_file = 1\n", flags: map[ID][]string{MinInterval: {"1s"}}}, []string{
			`wanderd.toml:1: op is a number: a duration needs a unit and quotes, as in "5s" or "5m"`,
			`wanderd.toml:3: secret_file is a number: want text in quotes`,
			`wanderd.toml:2: bind: "x": "x" is no IP address: write one of this host's own, as in 10.0.0.7:7946`,
		}},
		{
			"what seems to be missing may be misspelled",
			reading{file: "[[gate]]\nname = \"a\"\nhok = \"/bin/sh\"\n"},
			[]string{`wanderd.toml:3: unknown key "hok" in [[gate]]: did you mean "hook"?`},
		},
		{
			"nothing is said of what was not read",
			reading{file: "[[gate\n", flags: map[ID][]string{Hook: {"/bin/sh"}, Skip: {"0s"}}},
			[]string{`wanderd.toml:2: expected '.' or ']' to end table name, but got '\n' instead`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.in
			if c.name != "nothing" {
				r = hooked(r)
			} else {
				r = reading{}
			}
			_, err := r.read(t).Check()
			if got := problemsOf(err); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestSecretIsReadAndItsFileMustBePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := statedir.WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	in := reading{flags: map[ID][]string{Hook: {"/bin/sh"}, SecretFile: {path}, Join: {"10.0.0.7"}}}
	c, err := in.read(t).Check()
	if err != nil || c.Agent.Secret == nil || c.Agent.Bind.String() != "[::]:7946" {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := in.read(t).Check(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.read(t).Check(); err == nil || !strings.Contains(err.Error(), "5 characters") || strings.Contains(err.Error(), "short") {
		t.Error(err)
	}
}

func TestSuspiciousThingsGiveWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := statedir.WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]reading{
		"--insecure changes nothing": {flags: map[ID][]string{Hook: {"/bin/sh"}, SecretFile: {path}, Insecure: {"true"}}},
		"m1:7946 cannot be reached":  {flags: map[ID][]string{Hook: {"/bin/sh"}, Join: {"m1", "localhost", "127.0.0.1:7"}}},
	} {
		c, err := in.read(t).Check()
		if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], want) {
			t.Errorf("want %q: %+v, %v", want, c, err)
		}
	}
}
