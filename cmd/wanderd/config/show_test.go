package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShownConfigurationNamesValuesAndOrigins(t *testing.T) {
	l := reading{
		env:   []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=m1", "WANDERD_JOIN=a,b"},
		flags: map[string][]string{"hook": {"/bin/sh -c 'a && b \"c\"'"}, "min_interval": {"90m"}},
	}.read(t)
	var b bytes.Buffer
	if err := l.WriteTOML(&b); err != nil {
		t.Fatal(err)
	}
	const want = `hook = ["/bin/sh", "-c", "a && b \"c\""]  # --hook
# ready =                                 # not set
ready_timeout = "30s"                     # default
policy = "wander"                         # default: with a hook
min_interval = "1h30m"                    # --min-interval
retry_after = "9m"                        # default: min_interval / 10
# window =                                # not set
window_hard = false                       # default
stop_after = 0                            # default
once = false                              # default
max_down = 0                              # default
# first =                                 # not set
first_wait = "1h"                         # default
soak = "0s"                               # default
# after =                                 # not set
after_every = "10s"                       # default
after_timeout = "5m"                      # default
# max_interval =                          # default: the longest of 3 × min_interval, 3 × members × op and two laps
# op =                                    # default: the measured time of the runs
skip = "1s"                               # default
hook_timeout = "1h30m"                    # default: min_interval
walk = "sweep"                            # default
slots = 1                                 # default
backups = 2                               # default
on_lost = "finish"                        # default
ask_before_run = false                    # default: with trust = secret
# roster =                                # not set
request = "martin"                        # default
kill_after = "5s"                         # default
# lease =                                 # default: 1s to 2s more than kill_after needs: 8s for 5s
keep = "0s"                               # default
keep_over = "give-up"                     # default

join = ["a:7946", "b:7946"]               # WANDERD_JOIN
alone = "auto"                            # default
bind = "127.0.0.1:7946"                   # default: without a secret
# advertise =                             # default: the bound address, or a private one of this host
name = "m1"                               # WANDERD_NAME
# zone =                                  # not set

# secret_file =                           # not set
trust = "secret"                          # default
# known_hosts =                           # not set
insecure = false                          # default
trust_hook = false                        # default

# config =                                # not set
state_dir = "/var/x"                      # WANDERD_STATE_DIR
socket = "/var/x/wanderd.sock"            # default: in state_dir
# socket_group =                          # not set
# metrics =                               # not set
stop = "end"                              # default
stop_timeout = "20s"                      # default

# on_event =                              # not set
on_event_timeout = "30s"                  # default
# webhook =                               # not set
# webhook_file =                          # not set
# webhook_body =                          # not set
# events =                                # not set

log_format = "auto"                       # default
log_level = "info"                        # default
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// What "config show" prints has the same effect when it is read as a file.
func TestShownConfigurationCanBePasted(t *testing.T) {
	for _, in := range []reading{
		{},
		{flags: map[string][]string{
			"hook": {"/bin/sh"}, "bind": {":7"}, "join": {"a", "[::1]:7"}, "name": {"a \"b\" \\ \x01 ü"},
		}},
		{env: []string{
			"WANDERD_INSECURE=1", "WANDERD_SLOTS=64", "WANDERD_BACKUPS=4", "WANDERD_ON_LOST=stop",
			"WANDERD_ADVERTISE=10.0.0.7", "WANDERD_MAX_INTERVAL=1d",
		}},
		{file: "op = \"5s\"\n[[gate]]\nname = \"a\"\nhook = [\"/bin/sh\", \"x y\"]\n[[gate]]\nname = \"b\"\nhook = " +
			"\"/bin/sh\"\nmin_interval = \"1h\"\n[[gate]]\nname = \"c\"\n"},
		{
			env: []string{"WANDERD_NAME=a", "WANDERD_WALK=random"},
			file: "[[gate]]\nname = \"a\"\npolicy = \"tree\"\nroster = [\"a\", \"b\", \"c\"]\n" +
				"[[gate]]\nname = \"b\"\npolicy = \"ring\"\nroster = [\"a\", \"b\", \"c\"]\nrequest = " +
				"\"q\"\nkill_after = \"10s\"\n",
		},
	} {
		var first, second bytes.Buffer
		l := in.read(t)
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		if err := l.WriteTOML(&first); err != nil {
			t.Fatal(err)
		}
		again := reading{file: first.String()}.read(t)
		if err := again.Err(); err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := again.WriteTOML(&second); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(settingsOnly(first.String()), settingsOnly(second.String())); diff != "" {
			t.Error(diff)
		}
	}
}

// settingsOnly leaves out comments.
func settingsOnly(doc string) string {
	var lines []string
	for line := range strings.Lines(doc) {
		line, _, _ = strings.Cut(line, "  # ")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestShownAsJSON(t *testing.T) {
	l := reading{flags: map[string][]string{"hook": {"/bin/sh -e"}, "op": {"5s"}, "backups": {"0"}}}.read(t)
	var b bytes.Buffer
	if err := l.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Settings map[string]shown
		Gates    []map[string]shown
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Settings) != len(l.Table) || len(got.Gates) != 1 || len(got.Gates[0]) != len(new(section).table())-4 {
		t.Errorf("%d settings, %d gates: %s", len(got.Settings), len(got.Gates), b.String())
	}
	for name, c := range map[string]struct{ got, want shown }{
		"op":       {got.Settings["op"], shown{Value: "5s", Origin: "--op"}},
		"hook":     {got.Gates[0]["hook"], shown{Value: []any{"/bin/sh", "-e"}, Origin: "--hook"}},
		"backups":  {got.Settings["backups"], shown{Value: 0.0, Origin: "--backups"}},
		"insecure": {got.Settings["insecure"], shown{Value: false, Origin: "default"}},
		"secret":   {got.Settings["secret_file"], shown{Origin: "not set"}},
		"max": {got.Settings["max_interval"], shown{
			Origin: "default: the longest of 3 × min_interval, 3 × members × op and two laps",
		}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
