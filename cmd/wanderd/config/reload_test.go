package config

import (
	"slices"
	"strings"
	"testing"
)

// reread reads a file as it is after a change.
func reread(t *testing.T, file string) *Layers {
	t.Helper()
	l := reading{file: file, env: []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=m1"}}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAReloadNamesWhatHasChangedAndWhatNeedsARestart(t *testing.T) {
	const before = "join = [\"a\"]\nmin_interval = \"20m\"\n[[gate]]\nname = \"x\"\nhook = \"/bin/sh\"\n[[gate]]\nname = \"y\"\n"
	start := reread(t, before)
	for name, c := range map[string]struct {
		file             string
		changed, restart []string
	}{
		"nothing":    {file: before},
		"a constant": {file: strings.Replace(before, "20m", "1h", 1), changed: []string{`gate "x": min_interval 1h (wanderd.toml:2)`, `gate "x": retry_after 6m (default: min_interval / 10)`, `gate "x": hook_timeout 1h (default: min_interval)`, `gate "y": min_interval 1h (wanderd.toml:2)`}},
		"the hook":   {file: strings.Replace(before, "/bin/sh", "/bin/cat", 1), changed: []string{`gate "x": hook [/bin/cat] (wanderd.toml:5)`}},
		"where to join": {
			file: strings.Replace(before, "[\"a\"]", "[\"b\"]", 1), changed: []string{"join [b:7946] (wanderd.toml:1)"},
		},
		"the port and skip": {
			file:    "bind = \":1\"\nskip = \"2s\"\n" + before,
			restart: []string{"bind 127.0.0.1:1 (wanderd.toml:1)", `gate "x": skip 2s (wanderd.toml:2)`, `gate "y": skip 2s (wanderd.toml:2)`},
		},
		"a gate more":  {file: before + "[[gate]]\nname = \"z\"\n", restart: []string{`gate "z" is new (wanderd.toml:8)`}},
		"a gate less":  {file: strings.Replace(before, "[[gate]]\nname = \"y\"\n", "", 1), restart: []string{`gate "y" is gone`}},
		"a first hook": {file: before + "hook = \"/bin/sh\"\n", restart: []string{`gate "y": hook [/bin/sh] (wanderd.toml:8)`, `gate "y": retry_after 2m (default: min_interval / 10)`, `gate "y": hook_timeout 20m (default: min_interval)`}},
	} {
		changed, restart := reread(t, c.file).Since(start, start)
		if !slices.Equal(changed, c.changed) || !slices.Equal(restart, c.restart) {
			t.Errorf("%s: changed %q, restart %q", name, changed, restart)
		}
	}
}

func TestWhatNeedsARestartIsNamedUntilThatComes(t *testing.T) {
	start := reread(t, "hook = \"/bin/sh\"\n")
	first := reread(t, "hook = \"/bin/cat\"\nslots = 2\n")
	again := reread(t, "hook = \"/bin/cat\"\nslots = 2\n")
	if changed, restart := again.Since(first, start); len(changed) != 0 || len(restart) != 1 {
		t.Errorf("changed %q, restart %q", changed, restart)
	}
}
