package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestHookAloneIsTheDefaultGate(t *testing.T) {
	l := reading{
		env:   []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=m1"},
		flags: map[string][]string{"hook": {"/bin/sh -c 'a && b'"}, "min_interval": {"1d"}},
	}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	want := []gate.Config{{
		WithWait: withWait, Name: "default", Hook: []string{"/bin/sh", "-c", "a && b"}, HookTimeout: 24 * time.Hour,
		Protocol: wander.Settings{
			Walk: wander.Sweep, Slots: 1, Backups: 2, Skip: time.Second,
			MinInterval: 24 * time.Hour, RetryAfter: 144 * time.Minute,
		},
	}}
	if diff := cmp.Diff(want, l.Agent.Gates); diff != "" {
		t.Error(diff)
	}
	c := l.Agent
	if c.Bind.String() != "127.0.0.1:7946" || c.Advertise.IsValid() || c.Alone != agent.AloneAuto || c.Secret != nil ||
		c.Socket != "/var/x/wanderd.sock" || c.StopTimeout != 20*time.Second {
		t.Errorf("%+v", c)
	}
}

// A constant in a gate's table holds for that gate; the others are as at the top, whatever layer they come from.
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
		env: []string{
			"WANDERD_WALK=shuffle", "WANDERD_BACKUPS=4", "WANDERD_MIN_INTERVAL=7m", "WANDERD_STATE_DIR=/var/x",
		},
		flags: map[string][]string{"op": {"6s"}, "skip": {"2s"}, "on_lost": {"stop"}},
	}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	want := []gate.Config{
		{
			WithWait: withWait, Name: "a", Hook: []string{"/bin/sh", "a"}, HookTimeout: 7 * time.Minute,
			Protocol: wander.Settings{
				Walk: wander.Random, Slots: 3, OnLost: soft.Stop, Skip: 2 * time.Second, Op: 6 * time.Second,
				MinInterval: 7 * time.Minute,
				RetryAfter:  time.Minute,
			},
		},
		{
			WithWait: withWait, Name: "b", Hook: []string{"/bin/sh", "b"}, HookTimeout: 3 * time.Minute,
			Protocol: wander.Settings{
				Walk: wander.Shuffle, Slots: 1, Backups: 4, Skip: 2 * time.Second, Op: 2 * time.Second,
				MinInterval: 3 * time.Minute,
				RetryAfter:  time.Minute, MaxInterval: time.Hour,
			},
		},
	}
	if diff := cmp.Diff(want, l.Agent.Gates); diff != "" {
		t.Error(diff)
	}
}

// A gate without a hook delays no command and ends none, unless it is configured to.
func TestAGateWithoutAHookIsAGateOnDemand(t *testing.T) {
	l := reading{file: `
op = "5s"
[[gate]]
name = "a"
[[gate]]
name = "b"
min_interval = "3m"
hook_timeout = "1h"
[[gate]]
name = "c"
hook = "/bin/sh"
`, env: []string{"WANDERD_STATE_DIR=/var/x"}}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	settings := call.Settings{Backups: 2, Skip: time.Second, Slots: 1}
	patient := settings
	patient.MinInterval = 3 * time.Minute
	hooked := wander.Settings{
		Walk: wander.Sweep, Slots: 1, Backups: 2, Skip: time.Second, Op: 5 * time.Second,
		MinInterval: 10 * time.Minute, RetryAfter: time.Minute,
	}
	want := []gate.Config{
		{WithWait: withWait, Name: "a", Protocol: settings},
		{WithWait: withWait, Name: "b", HookTimeout: time.Hour, Protocol: patient},
		{WithWait: withWait, Name: "c", Hook: []string{"/bin/sh"}, HookTimeout: 10 * time.Minute, Protocol: hooked},
	}
	if diff := cmp.Diff(want, l.Agent.Gates); diff != "" {
		t.Error(diff)
	}
}

func TestRetryAfterIsATenthOfMinIntervalAndAtLeastAMinute(t *testing.T) {
	for minInterval, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1m": time.Minute, "10m": time.Minute, "20m": 2 * time.Minute, "1d": 144 * time.Minute,
	} {
		l := reading{flags: map[string][]string{"hook": {"/bin/sh"}, "min_interval": {minInterval}}}.read(t)
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		if got := l.Agent.Gates[0].Protocol.(wander.Settings).RetryAfter; got != want {
			t.Errorf("with min_interval %s it is %v, want %v", minInterval, got, want)
		}
	}
}

func TestConflictingSettingsAreNamedWithTheRemedy(t *testing.T) {
	many := ""
	for i := range identity.MaxGates + 1 {
		many += "[[gate]]\nname = \"g" + string(rune('a'+i)) + "\"\nhook = \"/bin/sh\"\n"
	}
	hooked := func(r reading) reading {
		if r.flags == nil {
			r.flags = make(map[string][]string)
		}
		if !strings.Contains(r.file, "gate") && r.flags["hook"] == nil {
			r.flags["hook"] = []string{"/bin/sh"}
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
			reading{env: []string{"WANDERD_HOOK="}, flags: map[string][]string{"hook": {}}},
			[]string{"nothing to gate: pass --hook ./sync.sh, or a file with [[gate]] tables with --config; a gate " +
				"without a hook takes commands"},
		},
		{
			"missing hook",
			reading{flags: map[string][]string{"hook": {"./missing.sh"}}},
			[]string{"--hook: ./missing.sh does not exist: check the path (relative paths start at the agent's " +
				"working directory)"},
		},
		{
			"a repetition of nothing",
			reading{file: "[[gate]]\nname = \"a\"\nretry_after = \"1m\"\n"},
			[]string{`wanderd.toml:3: retry_after: it repeats a hook that has failed, and this gate has none: leave ` +
				`it out, or let the callers repeat their commands`},
		},
		{
			"a window that is none",
			reading{
				file: "window = [\"Mon..Fri 22:00-06:00 Europe/Berlin\", \"Mo..Fr 22:00-06:00\"]\nhook = \"/bin/sh\"\n",
			},
			[]string{`wanderd.toml:1: window: "Mo" is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in ` +
				`"Mon..Fri" or "Sat,Sun"`},
		},
		{
			"a hook that is due all the time",
			reading{file: "[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\nmin_interval = \"0s\"\nhook_timeout = \"0s\"\n"},
			[]string{
				`wanderd.toml:4: min_interval: "0s" must be greater than 0 in a gate with a hook: leave it out for ` +
					`the default`,
				`wanderd.toml:5: hook_timeout: "0s" must be greater than 0 in a gate with a hook: leave it out for ` +
					`the default`,
			},
		},
		{
			"a typical run of a command takes longer than it may",
			reading{file: "op = \"2s\"\n[[gate]]\nname = \"a\"\nhook_timeout = \"1s\"\npolicy = \"wander\"\n"},
			[]string{`gate "a": hook_timeout 1s (wanderd.toml:4) is below op 2s (wanderd.toml:1), so a run of ` +
				`typical length would be stopped: raise hook_timeout or lower op`},
		},
		{
			"hook and gates",
			reading{
				file: "[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\n", flags: map[string][]string{"hook": {"/bin/sh"}},
			},
			[]string{`--hook makes the gate "default", and wanderd.toml:1 describes gates too: put the hook into a ` +
				`[[gate]] table with the name "default", or drop the tables`},
		},
		{
			"too many gates",
			reading{file: many},
			[]string{"wanderd.toml:46: this is gate 16, and an agent can have 15: run a second agent for the rest"},
		},
		{
			"min_interval below op",
			reading{flags: map[string][]string{"min_interval": {"1s"}, "op": {"4s"}}},
			[]string{"min_interval 1s (--min-interval) is below op 4s (--op), so a host would be due again before it " +
				"has finished: raise min_interval or lower op"},
		},
		{
			"the same in a gate",
			reading{file: "op = \"2s\"\n[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\nmin_interval = \"1s\"\n"},
			[]string{`gate "a": min_interval 1s (wanderd.toml:5) is below op 2s (wanderd.toml:1), so a host would be ` +
				`due again before it has finished: raise min_interval or lower op`},
		},
		{
			"max_interval below min_interval",
			reading{env: []string{"WANDERD_MAX_INTERVAL=1m"}},
			[]string{"max_interval 1m (WANDERD_MAX_INTERVAL) is below min_interval 10m (default), so every host " +
				"would take the token for lost between two runs: raise max_interval or lower min_interval"},
		},
		{
			"hook_timeout below op",
			reading{env: []string{"WANDERD_HOOK_TIMEOUT=1s", "WANDERD_OP=4s"}},
			[]string{"hook_timeout 1s (WANDERD_HOOK_TIMEOUT) is below op 4s (WANDERD_OP), so a run of typical length " +
				"would be stopped: raise hook_timeout or lower op"},
		},
		{
			"a program to join that is not there",
			reading{flags: map[string][]string{"join": {"exec:/nowhere -v"}}},
			[]string{`--join: /nowhere does not exist: check the path (relative paths start at the agent's working ` +
				`directory)`},
		},
		{
			"no program to join",
			reading{flags: map[string][]string{"join": {"exec:"}}},
			[]string{`--join: "exec:" names no program: write it as in exec:/usr/local/bin/members`},
		},
		{
			"a webhook without encryption",
			reading{env: []string{"WANDERD_WEBHOOK=http://10.0.0.7/x"}},
			[]string{`WANDERD_WEBHOOK: http:// is not encrypted, so it is allowed to this host only (127.0.0.1, ` +
				`[::1], localhost): write https://`},
		},
		{
			"two webhooks",
			reading{env: []string{"WANDERD_WEBHOOK=https://x/", "WANDERD_WEBHOOK_FILE=/nowhere"}},
			[]string{`WANDERD_WEBHOOK_FILE: webhook names a URL, too: leave one of them out`},
		},
		{
			"a file of a webhook that is not there",
			reading{env: []string{"WANDERD_WEBHOOK_FILE=/nowhere"}},
			[]string{`WANDERD_WEBHOOK_FILE: /nowhere does not exist: write the secret into it, and chmod 600 /nowhere`},
		},
		{
			"a form without a webhook",
			reading{env: []string{`WANDERD_WEBHOOK_BODY={"text": "{host}"}`}},
			[]string{`WANDERD_WEBHOOK_BODY: it has no effect without webhook or webhook_file`},
		},
		{
			"a form with a name that no event has",
			reading{env: []string{`WANDERD_WEBHOOK_BODY={"text": "{hots}"}`, "WANDERD_WEBHOOK=https://x/"}},
			[]string{
				`WANDERD_WEBHOOK_BODY: an event has no {hots}: it has at, by, command, error, event, exit, gate, ` +
					`here, host, id, peer, reason, seq, text, token, took, until`,
			},
		},
		{
			"a kind of event that there is not",
			reading{flags: map[string][]string{"events": {"faild"}}},
			[]string{`--events: there is no event "faild": did you mean "failed"?`},
		},
		{
			"a program for events that is not there",
			reading{flags: map[string][]string{"on_event": {"/nowhere"}}},
			[]string{`--on-event: /nowhere does not exist: check the path (relative paths start at the agent's ` +
				`working directory)`},
		},
		{
			"a group that does not exist",
			reading{env: []string{"WANDERD_SOCKET_GROUP=no-such-group"}},
			[]string{`WANDERD_SOCKET_GROUP: there is no group "no-such-group" on this host: make it with "groupadd ` +
				`--system no-such-group", or name another one with --socket-group`},
		},
		{
			"bind without a secret",
			reading{flags: map[string][]string{"bind": {"0.0.0.0"}}},
			[]string{`--bind: without a secret the agent binds to loopback only, not to 0.0.0.0:7946: give every ` +
				`host the same file with --secret-file ("wanderd keygen --secret" makes one), or say --insecure`},
		},
		{
			"join from loopback",
			reading{flags: map[string][]string{"join": {"10.0.0.7"}}},
			[]string{`--join: 10.0.0.7:7946 cannot be reached from 127.0.0.1:7946, which this agent is bound to ` +
				`(default: without a secret): give every host the same file with --secret-file ("wanderd keygen ` +
				`--secret" makes one), or say --insecure`},
		},
		{
			"long name",
			reading{flags: map[string][]string{"name": {strings.Repeat("x", 65)}}},
			[]string{"--name: the name has 65 bytes, and 64 are allowed: choose a shorter one with --name"},
		},
		{
			"name with a line end",
			reading{flags: map[string][]string{"name": {"a\nb"}}},
			[]string{`--name: the name "a\nb" has characters that cannot be printed: choose another one with --name`},
		},
		{
			"missing secret",
			reading{flags: map[string][]string{"secret_file": {"/missing/secret"}}},
			[]string{`--secret-file: the secret file /missing/secret does not exist: make one with "wanderd keygen ` +
				`--secret", and give all members the same`},
		},
		{
			"ready in a gate without a hook",
			reading{file: "[[gate]]\nname = \"a\"\nready = \"/bin/true\"\n"},
			[]string{`wanderd.toml:3: ready: it says whether a hook is needed, and this gate has none: leave it out, ` +
				`or let the callers ask for themselves`},
		},
		{
			"ready for several gates",
			reading{file: "ready = \"/bin/true\"\n[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\n"},
			[]string{
				`wanderd.toml:1: ready: it is the question of one hook: put it into the [[gate]] table of that hook`,
			},
		},
		{
			"ready that is not there",
			reading{flags: map[string][]string{"ready": {"/missing/ready"}}},
			[]string{`--ready: /missing/ready does not exist: check the path (relative paths start at the agent's ` +
				`working directory)`},
		},
		{
			"ready that nobody can execute",
			reading{flags: map[string][]string{"ready": {"/etc/hostname"}}},
			[]string{`--ready: /etc/hostname is a script without an interpreter: put #!/bin/sh into its first line`},
		},
		{"a broken value is not judged again", reading{
			file: "op = 5\nbind = \"x\"\nsecret_file = 1\n", flags: map[string][]string{"min_interval": {"1s"}},
		}, []string{
			`wanderd.toml:1: op is a number: a duration needs a unit and quotes, as in "5s" or "5m"`,
			`wanderd.toml:3: secret_file is a number: want text in quotes`,
			`wanderd.toml:2: bind: "x": "x" is not an IP address: write one of this host's own, as in 10.0.0.7:7946`,
		}},
		{
			"what seems to be missing may be misspelled",
			reading{file: "[[gate]]\nname = \"a\"\nhok = \"/bin/sh\"\n"},
			[]string{`wanderd.toml:3: unknown key "hok" in [[gate]]: did you mean "hook"?`},
		},
		{
			"nothing is said of what was not read",
			reading{
				file: "[[gate\n", flags: map[string][]string{"hook": {"/bin/sh"}, "op": {"4s"}, "min_interval": {"1s"}},
			},
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
			if got := problemsOf(r.read(t).Check()); !slices.Equal(got, c.want) {
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
	in := reading{flags: map[string][]string{"hook": {"/bin/sh"}, "secret_file": {path}, "join": {"10.0.0.7"}}}
	c := in.read(t)
	if err := c.Check(); err != nil || c.Agent.Secret == nil || c.Agent.Bind.String() != "[::]:7946" {
		t.Fatalf("%+v, %v", c.Agent, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := in.read(t).Check(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := in.read(t).Check(); err == nil || !strings.Contains(err.Error(), "5 characters") ||
		strings.Contains(err.Error(), "short") {
		t.Error(err)
	}
}

func TestKnownHostsAreReadIfTheySayWhoMayTakePart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known_hosts")
	line := "m1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(trust, knownHosts string) *Layers {
		flags := map[string][]string{"hook": {"/bin/sh"}}
		for key, value := range map[string]string{"trust": trust, "known_hosts": knownHosts} {
			if value != "" {
				flags[key] = []string{value}
			}
		}
		return reading{flags: flags}.read(t)
	}
	l := in("known_hosts", path)
	if err := l.Check(); err != nil || l.Agent.KnownHosts != path {
		t.Errorf("%q, %v", l.Agent.KnownHosts, err)
	}
	for _, c := range []struct{ trust, path, want string }{
		{"known_hosts", "", "needs a file"},
		{"secret", path, "has no effect"},
		{"", path, "has no effect"},
		{"known_hosts", "/missing", "no such file"},
		{"known_hosts", "/etc/passwd", "line 1 is not one of known hosts"},
	} {
		if err := in(c.trust, c.path).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSuspiciousThingsGiveWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := statedir.WriteNewSecretFile(path); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]reading{
		"--insecure changes nothing": {
			flags: map[string][]string{"hook": {"/bin/sh"}, "secret_file": {path}, "insecure": {"true"}},
		},
		"m1:7946 cannot be reached": {
			flags: map[string][]string{"hook": {"/bin/sh"}, "join": {"m1", "localhost", "127.0.0.1:7"}},
		},
	} {
		c := in.read(t)
		if err := c.Check(); err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], want) {
			t.Errorf("want %q: %q, %v", want, c.Warnings, err)
		}
	}
}

func TestAHookIsRefusedIfOthersCanChangeTheFileThatNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wanderd.toml")
	if err := os.WriteFile(path, []byte("hook = \"/bin/sh\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(more map[string][]string) error {
		flags := map[string][]string{"config": {path}}
		maps.Copy(flags, more)
		return reading{env: []string{"WANDERD_STATE_DIR=/var/x"}, flags: flags}.read(t).Check()
	}
	if err := check(nil); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(nil); err == nil || !strings.Contains(err.Error(), "chmod go-w "+path) ||
		!strings.Contains(err.Error(), "--trust-hook") {
		t.Errorf("%v", err)
	}
	for _, more := range []map[string][]string{{"trust_hook": {"true"}}, {"hook": {"/bin/sh"}}} {
		if err := check(more); err != nil {
			t.Errorf("%v: %v", more, err)
		}
	}
}
