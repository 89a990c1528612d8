package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A drained agent lets its command end, and is gone when "wanderd drain" returns; the same holds for an agent that is
// stopped with stop = "drain".
func TestADrainEndsNoCommand(t *testing.T) {
	t.Parallel()
	for name, drain := range map[string]func(t *testing.T, n *node){
		"command": func(t *testing.T, n *node) {
			out, err := exec.Command(program(t), "drain", "--state-dir", n.state).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "waiting for the run of gate g") {
				t.Errorf("wanderd drain: %v\n%s", err, out)
			}
		},
		"signal": func(_ *testing.T, n *node) { n.signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			n := onDemand(t, 1).nodes[0]
			n.fleet.args = append(n.fleet.args, "--stop", "drain")
			n.start()
			n.answers()
			begun, done := filepath.Join(n.fleet.dir, "begun"), filepath.Join(n.fleet.dir, "done")
			c := n.exec("--", "sh", "-c", "touch "+begun+"; sleep 2; touch "+done).begin()
			until(t, "the command runs", func() bool { _, err := os.Stat(begun); return err == nil })
			drain(t, n)
			if code := n.exits(); code != 0 {
				t.Errorf("the agent exits with %d", code)
			}
			c.wantCode(0, "")
			if _, err := os.Stat(done); err != nil {
				t.Error("the command was ended")
			}
		})
	}
}
