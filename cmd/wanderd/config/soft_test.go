package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// A gate without a hook is on call, and one with a hook has a token that goes round, unless a person chooses.
func TestThePolicyOfAGateFollowsFromItsHook(t *testing.T) {
	const a, b = "[[gate]]\nname = \"a\"\n", "[[gate]]\nname = \"b\"\nhook = \"/bin/sh\"\n"
	for name, c := range map[string]struct {
		in   reading
		want []string
	}{
		"by their hooks": {reading{file: a + b}, []string{"call", "wander"}},
		"call for all":   {reading{file: "policy = \"call\"\n" + a + b}, []string{"call", "call"}},
		"wander for all": {reading{file: a + b, env: []string{"WANDERD_POLICY=wander"}}, []string{"wander", "wander"}},
		"the other way": {
			reading{file: a + "policy = \"wander\"\n" + b + "policy = \"call\"\n"}, []string{"wander", "call"},
		},
		"a hook by a flag": {reading{flags: map[string][]string{"hook": {"/bin/sh"}}}, []string{"wander"}},
		"a hook on call": {
			reading{flags: map[string][]string{"hook": {"/bin/sh"}, "policy": {"call"}}}, []string{"call"},
		},
	} {
		c.in.env = append(c.in.env, "WANDERD_STATE_DIR=/var/x")
		l := c.in.read(t)
		if err := l.Check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, g := range l.Agent.Gates {
			got = append(got, g.Protocol.Descriptor().Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The settings of a gate on call are those that it has; those of other policies are as at the top, and count for
// nothing.
func TestAGateOnCallTakesItsSettings(t *testing.T) {
	l := reading{
		file: "walk = \"random\"\nop = \"1m\"\nask_before_run = true\n[[gate]]\nname = \"a\"\nhook = \"/bin/sh\"\n" +
			"policy = \"call\"\nskip = \"2s\"\nbackups = 3\nmin_interval = \"30s\"\nmax_interval = \"10m\"\n" +
			"slots = 3\non_lost = \"stop\"\n",
		env: []string{"WANDERD_STATE_DIR=/var/x"},
	}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	want := policy.Protocol(call.Settings{
		Skip: 2 * time.Second, Backups: 3, MinInterval: 30 * time.Second, RetryAfter: 30 * time.Second,
		MaxInterval: 10 * time.Minute, Slots: 3, OnLost: soft.Stop,
	})
	if diff := cmp.Diff(want, l.Agent.Gates[0].Protocol); diff != "" {
		t.Error(diff)
	}
	keys := l.gates[0].applying().Keys()
	for key, want := range map[string]bool{
		"skip": true, "backups": true, "max_interval": true, "walk": false, "op": false, "ask_before_run": false,
		"on_lost": true, "slots": true, "roster": false, "lease": false,
	} {
		if slices.Contains(keys, key) != want {
			t.Errorf("%s is shown: %v", key, !want)
		}
	}
	if s := l.gates[0].Find("max_interval"); s.Rule != callMaxRule {
		t.Errorf("the rule of max_interval: %s", s.Rule)
	}
}

func TestAGateOnCallRefusesWhatItCannotDo(t *testing.T) {
	gate := func(lines string) string { return "[[gate]]\nname = \"g\"\n" + lines + "\n" }
	for setting, want := range map[string]string{
		gate(`walk = "random"`): `walk: it has no effect in a gate with policy = "call" (default: without a hook): ` +
			`leave it out, or set another policy`,
		gate(`op = "5s"`):             `op: it has no effect in a gate`,
		gate(`ask_before_run = true`): `ask_before_run: it has no effect in a gate`,
		gate(`backups = 0`):           `backups: a gate with policy = "call" needs a guardian`,
		"backups = 0\n" + gate(""):    `backups: a gate with policy = "call" needs a guardian`,
		gate("min_interval=\"1h\"\nmax_interval=\"1m\""): "max_interval 1m (wanderd.toml:4) is below " +
			"min_interval 1h",
	} {
		problems := problemsOf(reading{file: setting, env: []string{"WANDERD_STATE_DIR=/var/x"}}.read(t).Check())
		if len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%s: got\n%s\nwant\n%s", setting, strings.Join(problems, "\n"), want)
		}
	}
}

// A reload changes what a machine on call can change, and leaves the rest for a restart.
func TestAReloadOfAGateOnCall(t *testing.T) {
	const before = "[[gate]]\nname = \"x\"\n"
	running := NewRunning(reread(t, before))
	next := reread(t, before+"min_interval = \"1m\"\nbackups = 3\nskip = \"2s\"\nslots = 2\non_lost = \"stop\"\n")
	changed, restart := running.Compare(next)
	if !slices.Equal(changed, []string{
		`gate "x": min_interval 1m (wanderd.toml:3)`, `gate "x": backups 3 (wanderd.toml:4)`,
		`gate "x": on_lost stop (wanderd.toml:7)`,
	}) || !slices.Equal(restart, []string{
		`gate "x": skip 2s (wanderd.toml:5)`, `gate "x": slots 2 (wanderd.toml:6)`,
	}) {
		t.Errorf("changed %q, restart %q", changed, restart)
	}
	running.Keep(next)
	want := policy.Protocol(call.Settings{
		Skip: time.Second, MinInterval: time.Minute, Backups: 3, Slots: 1, OnLost: soft.Stop,
	})
	if diff := cmp.Diff(want, next.Agent.Gates[0].Protocol); diff != "" {
		t.Error(diff)
	}
	other := reread(t, before+"policy = \"wander\"\n")
	if changed, restart := running.Compare(other); len(changed) != 0 ||
		!slices.Equal(restart, []string{`gate "x": policy wander (wanderd.toml:3)`}) {
		t.Errorf("another policy: changed %q, restart %q", changed, restart)
	}
	running.Keep(other)
	if _, stays := other.Agent.Gates[0].Protocol.(wander.Settings); stays {
		t.Error("another policy came with a reload")
	}
}

// Guardians wait for keep, so it cannot change while a grant may be kept; what happens afterwards can.
func TestAReloadDoesNotChangeHowLongGrantsAreKept(t *testing.T) {
	for _, policyName := range []string{"call", "wander"} {
		before := "[[gate]]\nname = \"x\"\npolicy = \"" + policyName + "\"\nkeep = "
		running := NewRunning(reread(t, before+"\"15m\"\n"))
		next := reread(t, before+"\"5m\"\nkeep_over = \"stand-still\"\n")
		changed, restart := running.Compare(next)
		if !slices.Equal(changed, []string{`gate "x": keep_over stand-still (wanderd.toml:5)`}) ||
			!slices.Equal(restart, []string{`gate "x": keep 5m (wanderd.toml:4)`}) {
			t.Errorf("changed %q, restart %q", changed, restart)
		}
		running.Keep(next)
		kept := time.Duration(0)
		switch s := next.Agent.Gates[0].Protocol.(type) {
		case call.Settings:
			kept = s.Keep
		case wander.Settings:
			kept = s.Keep
		}
		if kept != 15*time.Minute {
			t.Errorf("after a reload a grant of policy %s is kept for %v", policyName, kept)
		}
	}
}
