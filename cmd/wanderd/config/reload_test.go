package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// reread reads a file after a change.
func reread(t *testing.T, file string) *Layers {
	t.Helper()
	l := reading{file: file, env: []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=m1"}}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAReloadNamesChangesAndThoseThatNeedARestart(t *testing.T) {
	const before = "join = [\"a\"]\nmin_interval = \"20m\"\n[[gate]]\nname = \"x\"\nhook = " +
		"\"/bin/sh\"\n[[gate]]\nname = \"y\"\n"
	start := reread(t, before)
	for name, c := range map[string]struct {
		file             string
		changed, restart []string
	}{
		"nothing": {file: before},
		"a constant": {file: strings.Replace(before, "20m", "1h", 1), changed: []string{
			`gate "x": min_interval 1h ` +
				`(wanderd.toml:2)`, `gate "x": retry_after 6m (default: min_interval / 10)`,
			`gate "x": hook_timeout 1h (default: min_interval)`, `gate "y": min_interval 1h (wanderd.toml:2)`,
		}},
		"the hook": {
			file:    strings.Replace(before, "/bin/sh", "/bin/cat", 1),
			changed: []string{`gate "x": hook [/bin/cat] (wanderd.toml:5)`},
		},
		"where to join": {
			file: strings.Replace(before, "[\"a\"]", "[\"b\"]", 1), changed: []string{"join [b:7946] (wanderd.toml:1)"},
		},
		"the port and skip": {
			file: "bind = \":1\"\nskip = \"2s\"\n" + before,
			restart: []string{
				"bind 127.0.0.1:1 (wanderd.toml:1)", `gate "x": skip 2s (wanderd.toml:2)`,
				`gate "y": skip 2s (wanderd.toml:2)`,
			},
		},
		"the URL of a webhook, which may be a secret": {
			file: "webhook = \"https://x/word\"\n" + before, changed: []string{"webhook (wanderd.toml:1)"},
		},
		"a gate more": {
			file: before + "[[gate]]\nname = \"z\"\n", changed: []string{`gate "z" is new (wanderd.toml:8)`},
		},
		"a gate less": {
			file: strings.Replace(before, "[[gate]]\nname = \"y\"\n", "", 1), changed: []string{`gate "y" is removed`},
		},
		"a first hook": {file: before + "hook = \"/bin/sh\"\n", restart: []string{
			`gate "y": hook [/bin/sh] (wanderd.toml:8)`, `gate "y": policy wander (default: with a hook)`,
			`gate "y": retry_after 2m (default: min_interval / 10)`,
			`gate "y": hook_timeout 20m (default: min_interval)`,
		}},
	} {
		changed, restart := NewRunning(start).Compare(reread(t, c.file))
		if !slices.Equal(changed, c.changed) || !slices.Equal(restart, c.restart) {
			t.Errorf("%s: changed %q, restart %q", name, changed, restart)
		}
	}
}

func TestChangesThatNeedARestartAreNamedUntilThen(t *testing.T) {
	running := NewRunning(reread(t, "hook = \"/bin/sh\"\n"))
	running.Accept(reread(t, "hook = \"/bin/cat\"\nslots = 2\n"))
	if changed, restart := running.Compare(reread(t, "hook = \"/bin/cat\"\nslots = 2\n")); len(changed) != 0 ||
		len(restart) != 1 {
		t.Errorf("changed %q, restart %q", changed, restart)
	}
}

func TestAGateThatComesBackBeginsWithWhatItHasThen(t *testing.T) {
	const gate, other = "[[gate]]\nname = \"x\"\npolicy = \"wander\"\n", "[[gate]]\nname = \"y\"\n"
	running := NewRunning(reread(t, gate+other))
	running.Accept(reread(t, other))
	back := reread(t, gate+"slots = 2\n"+other)
	if changed, restart := running.Compare(back); !slices.Equal(changed,
		[]string{`gate "x" is new (wanderd.toml:1)`}) || len(restart) != 0 {
		t.Errorf("changed %q, restart %q", changed, restart)
	}
	running.Keep(back)
	running.Accept(back)
	if s := back.Agent.Gates[0].Protocol.(wander.Settings); s.Slots != 2 {
		t.Errorf("it begins with %d slots", s.Slots)
	}
	if changed, restart := running.Compare(reread(t, gate+other)); len(changed) != 0 || len(restart) != 1 {
		t.Errorf("then: changed %q, restart %q", changed, restart)
	}
}

// Of a strict gate the pace, the windows and once may change; what its members have agreed on may not.
func TestAReloadChangesThePaceOfAStrictGate(t *testing.T) {
	const gate = "[[gate]]\nname = \"x\"\npolicy = \"tree\"\nroster = [\"m1\", \"m2\"]\nhook = \"/bin/sh\"\n"
	running := NewRunning(reread(t, gate+"min_interval = \"1h\"\n"))
	next := reread(t, gate+"min_interval = \"2h\"\nonce = true\nlease = \"20s\"\n")
	running.Keep(next)
	s := next.Agent.Gates[0].Protocol.(strict.Settings)
	if !s.Once || s.MinInterval != 2*time.Hour || s.Lease == 20*time.Second {
		t.Errorf("it goes on with %+v", s)
	}
}
