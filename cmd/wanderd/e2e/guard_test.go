package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stubborn is a hook that ignores SIGTERM, as does a child of its own, which outlives it.
const stubborn = `#!/bin/sh
trap '' TERM
sh -c 'echo $$ >$OUT.child; while :; do sleep 1; done' &
echo $$ >$OUT
wait
`

// Killing every process of the program's name kills the agent. Its hook is gone a moment later, whatever it ignores,
// because the guard has another name.
func TestTheHookDoesNotOutliveAllProcessesOfTheProgramsName(t *testing.T) {
	t.Parallel()
	for tool, args := range map[string][]string{
		"pkill by name":      {"pkill", "-9"},
		"pkill by arguments": {"pkill", "-9", "-f"},
		"killall":            {"killall", "-9"},
	} {
		t.Run(tool, func(t *testing.T) {
			killer, err := exec.LookPath(args[0])
			if errors.Is(err, exec.ErrNotFound) {
				t.Skipf("no %s here", args[0])
			}
			// This is a name that no other process on this machine has.
			name := fmt.Sprintf("guarded%d", os.Getpid())
			f := newFleet(t, 1, "--skip", "50ms", "--op", "200ms", "--min-interval", "1h")
			f.hook(stubborn)
			n, out := f.nodes[0], filepath.Join(f.dir, "out")
			n.program = filepath.Join(t.TempDir(), name)
			if err := os.Link(program(t), n.program); err != nil {
				t.Fatal(err)
			}
			n.start("OUT=" + out)
			pid, child := pidIn(t, out), pidIn(t, out+".child")
			if said, err := exec.Command(killer, append(args[1:], name)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, said)
			}
			<-n.ended
			until(t, "the hook is gone", gone(pid))
			until(t, "its child is gone", gone(child))
		})
	}
}
