package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// zonedHook is a run that another one of its zone, a fifth one of the fleet, or a backup beside it would find: it makes
// a directory for what it must be alone in, and a file to be counted.
const zonedHook = `#!/bin/sh
mkdir "$RUNNING/$WITH" || echo "overlap $WANDERD_NAME in $WITH" >>"$JOURNAL"
: >"$RUNNING/run.$$"
[ "$(ls "$RUNNING" | grep -c '^run')" -le 4 ] || echo "overlap of five" >>"$JOURNAL"
echo "ran $WANDERD_NAME $WANDERD_GATE $WANDERD_WITH" >>"$JOURNAL"
sleep 0.3
rm "$RUNNING/run.$$"
rmdir "$RUNNING/$WITH"
`

// Ten hosts in three zones, with four slots and one run of each zone at a time: as the hooks see one another, no two
// run in one zone, and all run.
func TestNoTwoHostsOfOneZoneRunAtOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 10)
	f.noHook = true
	f.hook(zonedHook)
	f.configure(fmt.Sprintf("skip = \"100ms\"\ntrust_hook = true\n[[gate]]\nname = \"upgrade\"\nhook = %q\n"+
		"min_interval = \"1h\"\nslots = 4\nper_zone = 1\nwith_wait = \"2s\"\n", filepath.Join(f.dir, "hook.sh")))
	for i, n := range f.nodes {
		zone := fmt.Sprintf("z%d", i%3)
		n.args = []string{"--zone", zone}
		n.start("WITH=" + zone)
	}
	ran := make(map[string]bool)
	until(t, "all have run", func() bool {
		for _, line := range f.tail.lines(t) {
			if words := strings.Fields(line); words[0] != "ran" {
				t.Error(line)
			} else if ran[words[1]] = true; words[2] != "upgrade" || !strings.HasPrefix(words[3], "upgrade@z") {
				t.Error(line)
			}
		}
		return len(ran) == len(f.nodes)
	})
}

// configure writes the fleet's file.
func (f *fleet) configure(text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, "wanderd.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.args = []string{"--config", path}
}

// A command under two gates runs beside none under either of them, whatever the order in which they are named; and one
// that kill -9 of its agent has ended keeps neither.
func TestACommandHoldsAllGatesThatItNames(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	f.noHook = true
	f.hook(zonedHook)
	f.configure("skip = \"100ms\"\n[[gate]]\nname = \"a\"\n[[gate]]\nname = \"b\"\n")
	for _, n := range f.nodes {
		n.start()
	}
	for _, n := range f.nodes {
		n.hasGates(map[string]int{"a": 3, "b": 3})
	}
	hook := filepath.Join(f.dir, "hook.sh")
	ask := func(n *node, args ...string) *caller {
		c := n.exec(args...)
		c.Env = append(os.Environ(), "RUNNING="+f.running, "JOURNAL="+f.journal, "WITH=b")
		return c.begin()
	}
	var all []*caller
	for range 3 {
		all = append(all, ask(f.nodes[0], "--gate", "a", "--gate", "b", "--", hook),
			ask(f.nodes[1], "--gate", "b", "--gate", "a", "--", hook), ask(f.nodes[2], "--gate", "b", "--", hook))
	}
	for _, c := range all {
		c.wantCode(0, "")
	}
	for _, line := range f.tail.lines(t) {
		if !strings.HasPrefix(line, "ran ") {
			t.Error(line)
		}
	}
	dies := ask(f.nodes[0], "--gate", "a", "--gate", "b", "--", "sleep", "1000")
	until(t, "it runs", func() bool {
		st, ok := f.nodes[0].status()
		return ok && st.Gates[0].Running && st.Gates[1].Running
	})
	f.nodes[0].kill()
	dies.wantCode(70, "the agent on this host has died")
	begun := time.Now()
	ask(f.nodes[1], "--gate", "b", "--gate", "a", "--", "true").wantCode(0, "")
	t.Logf("%v after kill -9", time.Since(begun))
}

// Hosts that name the same new gate of a pattern at once run one after the other; a gate that is forgotten with all its
// agents is there again; and what is there on a host is shown only where somebody has named it.
func TestGatesComeIntoBeingWhenTheyAreNamed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 5)
	f.noHook = true
	f.hook(zonedHook)
	f.configure("[[gate]]\nname = \"build-*\"\n[[gate]]\nname = \"g\"\n")
	for _, n := range f.nodes {
		n.start()
	}
	for _, n := range f.nodes {
		n.hasGates(map[string]int{"g": 5})
	}
	for i := range 5 {
		name := fmt.Sprintf("build-%d", i)
		var all []*caller
		for _, n := range f.nodes {
			c := n.exec("--gate", name, "--", filepath.Join(f.dir, "hook.sh"))
			c.Env = append(os.Environ(), "RUNNING="+f.running, "JOURNAL="+f.journal, "WITH="+name)
			all = append(all, c.begin())
		}
		for _, c := range all {
			c.wantCode(0, "")
		}
	}
	lines := f.tail.lines(t)
	for _, line := range lines {
		if !strings.HasPrefix(line, "ran ") {
			t.Error(line)
		}
	}
	if len(lines) != 25 {
		t.Errorf("%d ran", len(lines))
	}
	begun := time.Now()
	f.nodes[0].exec("--gate", "build-only-here", "--", "true").begin().wantCode(0, "")
	t.Logf("a new name after %v", time.Since(begun))
	f.nodes[0].exec("--gate", "other", "--", "true").begin().wantCode(64, "its gates are g, build-*")
	for i, n := range f.nodes {
		s, _ := n.status()
		shown := false
		for _, g := range s.Gates {
			shown = shown || g.Name == "build-only-here"
		}
		if shown != (i == 0) {
			t.Errorf("%s shows it: %v", n.name, shown)
		}
	}
}
