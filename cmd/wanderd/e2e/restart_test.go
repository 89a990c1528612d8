package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
)

// The agents of a daily gate are all stopped, or lose their power, and are started again. A run that is wanted then
// takes place, by hand or with a command, and after a pause, and the token that they have is not replaced.
func TestAFleetWhoseAgentsWereAllRestartedGoesOn(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 3, "--min-interval", "1d", "--skip", "250ms")
			f.start()
			until(t, "everybody has run", func() bool {
				runs := f.runs()
				return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) == 0 })
			})
			for _, n := range f.nodes {
				n.signal(stop)
			}
			for _, n := range f.nodes {
				n.exits()
			}
			f.start()
			for _, n := range f.nodes {
				until(t, n.name+" sees the others", func() bool {
					s, ok := n.status()
					return ok && s.Members == len(f.nodes)
				})
			}
			for _, n := range f.nodes {
				n.does("run", "--wait")
				n.does("exec", "--", "true")
			}
			f.nodes[0].does("pause")
			f.nodes[0].does("resume")
			f.nodes[0].does("run", "--wait")
			out, err := exec.Command(program(t), "gate", "renew", "--state-dir", f.nodes[1].state).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "has its token, or may have it") {
				t.Errorf("there is a token, and it is renewed: %v\n%s", err, out)
			}
			for _, n := range f.nodes {
				until(t, n.name+" tells of its notes", func() bool {
					s, ok := n.status()
					if ok {
						n.wantNoneOf(&s.Gates[0], "removed", "regenerated")
					}
					return ok
				})
			}
		})
	}
}

// does checks that a command on the node's host succeeds.
func (n *node) does(args ...string) {
	n.fleet.t.Helper()
	args = slices.Insert(args, 1, "--state-dir", n.state)
	if out, err := exec.Command(program(n.fleet.t), args...).CombinedOutput(); err != nil {
		n.fleet.t.Fatalf("%s: %v: %v\n%s", n.name, args, err, out)
	}
}

func (n *node) wantNoneOf(g *control.Gate, notes ...string) {
	n.fleet.t.Helper()
	for _, note := range notes {
		if g.Notes[note] > 0 {
			n.fleet.t.Errorf("%s notes %q %d times", n.name, note, g.Notes[note])
		}
	}
}
