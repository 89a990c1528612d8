package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// configure writes the file of the node's gate, with one more setting in line 4.
func (n *node) configure(setting string) {
	n.fleet.t.Helper()
	text := fmt.Sprintf("skip = \"100ms\"\n[[gate]]\nname = \"g\"\n%s\n", setting)
	if err := os.WriteFile(n.fleet.args[1], []byte(text), 0o600); err != nil {
		n.fleet.t.Fatal(err)
	}
}

// reload asks the agent, as "systemctl reload" does.
func (n *node) reload() (code int, output string) {
	n.fleet.t.Helper()
	cmd := exec.Command(program(n.fleet.t), "reload", "--state-dir", n.state)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// SIGHUP used to stop an agent.
func TestAReloadKeepsTokenRunAndCallers(t *testing.T) {
	t.Parallel()
	n := alone(t)
	begun, goOn := filepath.Join(n.fleet.dir, "begun"), filepath.Join(n.fleet.dir, "go")
	first := n.exec("--", "sh", "-c", "touch "+begun+"; while ! [ -e "+goOn+" ]; do sleep 0.05; done").begin()
	until(t, "a command runs", func() bool { _, err := os.Stat(begun); return err == nil })
	second := n.exec("--", "true").begin()
	until(t, "somebody waits", func() bool { return len(n.callers()) == 2 })
	before, _ := n.status()

	n.configure("hook_timeout = \"1x\"")
	n.signal(syscall.SIGHUP)
	n.logged("the configuration was not reloaded")
	n.logged("gates.toml:4: hook_timeout")
	if code, out := n.reload(); code != 78 || !strings.Contains(out, "gates.toml:4: hook_timeout") {
		t.Errorf("a wrong file: exit code %d\n%s", code, out)
	}

	n.configure("min_interval = \"50ms\"\nskip = \"200ms\"")
	n.signal(syscall.SIGHUP)
	n.logged("reloaded the configuration")
	if code, out := n.reload(); code != 0 || !strings.Contains(out, "needs restart  gate \"g\": skip 200ms") {
		t.Errorf("another skip: exit code %d\n%s", code, out)
	}
	after, ok := n.status()
	if g, was := after.Gates[0], before.Gates[0]; !ok || !g.Running || len(g.Callers) != 2 || g.Token != was.Token ||
		time.Duration(g.MinInterval) != 50*time.Millisecond {
		t.Errorf("before %+v\nafter %+v", was, g)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first.wantCode(0, "")
	second.wantCode(0, "")
	n.signal(syscall.SIGTERM)
	if code := n.exits(); code != 0 {
		t.Errorf("the agent exits with %d", code)
	}
}

// withGates writes the fleet's file with these gates, all on demand.
func (f *fleet) withGates(names ...string) {
	f.t.Helper()
	text := "skip = \"100ms\"\n"
	for _, name := range names {
		text += fmt.Sprintf("[[gate]]\nname = %q\n", name)
	}
	if err := os.WriteFile(f.args[1], []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// hasGates waits until a node has these gates, each with so many members.
func (n *node) hasGates(members map[string]int) {
	n.fleet.t.Helper()
	until(n.fleet.t, fmt.Sprintf("%s has %v", n.name, members), func() bool {
		s, ok := n.status()
		has := map[string]int{}
		for _, g := range s.Gates {
			has[g.Name] = g.Members
		}
		return ok && maps.Equal(has, members)
	})
}

func TestAReloadAddsAndRemovesGatesWithoutARestart(t *testing.T) {
	t.Parallel()
	f := onDemand(t, 2)
	f.start()
	one, two := f.nodes[0], f.nodes[1]
	one.hasGates(map[string]int{"g": 2})

	f.withGates("g", "more")
	for _, n := range f.nodes {
		if code, out := n.reload(); code != 0 || !strings.Contains(out, `changed        gate "more" is new (`) ||
			strings.Contains(out, "restart") {
			t.Errorf("a gate more: exit code %d\n%s", code, out)
		}
	}
	one.hasGates(map[string]int{"g": 2, "more": 2})
	two.exec("--gate", "more", "--", "true").wantCode(0, "")
	one.exec("--gate", "more", "--", "true").wantCode(0, "")

	goOn := filepath.Join(f.dir, "go")
	begun := filepath.Join(f.dir, "begun")
	first := one.exec("--gate", "g", "--", "sh", "-c", "touch "+begun+"; while ! [ -e "+goOn+" ]; do sleep 0.05; done").
		begin()
	until(t, "a command runs", func() bool { _, err := os.Stat(begun); return err == nil })
	second := one.exec("--gate", "g", "--", "true").begin()
	until(t, "somebody waits", func() bool { return len(one.callers()) == 2 })
	other := two.exec("--gate", "g", "--", "true").begin()

	f.withGates("more")
	if code, out := one.reload(); code != 0 || !strings.Contains(out, `changed        gate "g" is removed`) ||
		!strings.Contains(out, "waits          gate g: ") {
		t.Errorf("a gate less: exit code %d\n%s", code, out)
	}
	second.wantCode(69, `gate "g" was removed`)
	one.exec("--gate", "g", "--", "true").wantCode(69, `gate "g" was removed`)
	if s, ok := one.status(); !ok || len(s.Gates) != 2 || !s.Gates[0].Running || !s.Gates[0].Removed {
		t.Errorf("while it runs: %+v", s.Gates)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first.wantCode(0, "")
	other.wantCode(0, "")
	one.hasGates(map[string]int{"more": 2})
	two.hasGates(map[string]int{"g": 1, "more": 2})
	one.exec("--gate", "g", "--", "true").wantCode(64, `takes no part in a gate "g"`)

	out, err := exec.Command(program(t), "status", "--fleet", "--json", "--state-dir", two.state).Output()
	var fleet control.Fleet
	if err = errors.Join(err, json.Unmarshal(out, &fleet)); err != nil || len(fleet.Members) != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range fleet.Members {
		if want := map[string]int{"m1": 1, "m2": 2}[m.Name]; m.Status == nil || len(m.Status.Gates) != want ||
			len(m.Gates) != want {
			t.Errorf("of the fleet, %+v", m)
		}
	}
	for _, n := range f.nodes {
		n.signal(syscall.SIGTERM)
		if code := n.exits(); code != 0 {
			t.Errorf("%s exits with %d", n.name, code)
		}
	}
}
