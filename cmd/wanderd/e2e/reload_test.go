package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// SIGHUP was a stop once.
func TestAReloadLosesNeitherTheTokenNorARunNorWhoWaits(t *testing.T) {
	n := alone(t)
	goOn := filepath.Join(n.fleet.dir, "go")
	wait := "while ! [ -e " + goOn + " ]; do sleep 0.05; done"
	first := n.exec("--", "sh", "-c", wait).begin()
	n.runsOne()
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

	n.configure("min_interval = \"50ms\"\nslots = 2")
	n.signal(syscall.SIGHUP)
	n.logged("reloaded the configuration")
	if code, out := n.reload(); code != 0 || !strings.Contains(out, "needs restart  gate \"g\": slots 2") {
		t.Errorf("another number of slots: exit code %d\n%s", code, out)
	}
	after, ok := n.status()
	if g, was := after.Gates[0], before.Gates[0]; !ok || !g.Running || len(g.Callers) != 2 || g.Token != was.Token || time.Duration(g.MinInterval) != 50*time.Millisecond {
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
