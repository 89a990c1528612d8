package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/lab/ports"
)

// one is a fleet of one whose hook is the given script; the script's own arguments and $OUT name a file to write to.
func one(t *testing.T, script string, args ...string) (n *node, out string) {
	t.Helper()
	f := newFleet(t, 1, append([]string{"--skip", "50ms", "--op", "200ms"}, args...)...)
	f.hook(script)
	n, out = f.nodes[0], filepath.Join(f.dir, "out")
	n.start("OUT=" + out)
	return n, out
}

// pidIn waits for a file with a process number in it.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	var pid int
	until(t, path+" holds a process number", func() bool {
		b, _ := os.ReadFile(path)
		_, err := fmt.Sscan(string(b), &pid)
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	return pid
}

func gone(pid int) func() bool { return func() bool { return syscall.Kill(pid, 0) != nil } }

func TestFailingHookIsReportedAndRunsAgain(t *testing.T) {
	t.Parallel()
	n, _ := one(t, "#!/bin/sh\nexit 3\n", "--min-interval", "1s")
	n.logged("exit status 3")
	until(t, "it runs again", func() bool {
		s, ok := n.status()
		return ok && s.Gates[0].Runs >= 2 && s.Gates[0].Failures >= 1
	})
}

func TestHangingHookIsStoppedAfterItsTimeout(t *testing.T) {
	t.Parallel()
	n, out := one(t, "#!/bin/sh\necho $$ >$OUT\nexec sleep 600\n", "--min-interval", "1h", "--hook-timeout", "1s")
	pid := pidIn(t, out)
	until(t, "the hook is gone", gone(pid))
	n.logged("timeout")
}

func TestChildThatIgnoresTermIsKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/sh\nsh -c 'trap \"\" TERM; echo $$ >$OUT; while :; do sleep 1; done' &\nwait\n"
	n, out := one(t, script, "--min-interval", "1h", "--hook-timeout", "1s")
	pid := pidIn(t, out)
	until(t, "the child is gone", gone(pid))
	until(t, "the run is over", func() bool {
		s, ok := n.status()
		return ok && !s.Gates[0].Running
	})
}

func TestAFloodOfOutputIsCutAndTheLogSaysSo(t *testing.T) {
	t.Parallel()
	n, _ := one(t, "#!/bin/sh\nyes 'a line of output that nobody needs' | head -c 20000000\necho last >&2\n",
		"--min-interval", "1h")
	until(t, "the run is over", func() bool {
		s, ok := n.status()
		return ok && s.Gates[0].Runs == 1 && !s.Gates[0].Running
	})
	info, err := os.Stat(n.log)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 8<<20 {
		t.Errorf("20 MB of output became %d bytes of log", info.Size())
	}
	n.logged("dropped")
}

func TestHookDoesNotOutliveAKilledAgent(t *testing.T) {
	t.Parallel()
	n, out := one(t, "#!/bin/sh\nsleep 600 &\necho $! >$OUT\nwait\n", "--min-interval", "1h")
	pid := pidIn(t, out)
	n.kill()
	until(t, "the hook's child is gone", gone(pid))
}

// The environment has what a hook needs to know, and nothing that it must not see.
func TestHookEnvironment(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "--skip", "50ms", "--op", "200ms", "--min-interval", "1h")
	out := filepath.Join(f.dir, "out")
	f.hook("#!/bin/sh\nenv >$OUT.tmp\nmv $OUT.tmp $OUT\n")
	f.nodes[0].start("OUT="+out, "NOTIFY_SOCKET=/nowhere", "WATCHDOG_USEC=30000000", "CREDENTIALS_DIRECTORY=/nowhere",
		"WANDERD_LOG_LEVEL=debug")
	var env string
	until(t, "the hook has run", func() bool {
		b, err := os.ReadFile(out)
		env = "\n" + string(b)
		return err == nil
	})
	for _, want := range []string{
		"HELD=1\n", "GATE=default\n", "SEQ=1\n", "NAME=m1\n", "MEMBERS=1\n", "DEADLINE=", "TOKEN=", "MEMBER=",
	} {
		if !strings.Contains(env, "\nWANDERD_"+want) {
			t.Errorf("WANDERD_%s is missing from %s", want, env)
		}
	}
	for _, not := range []string{
		"NOTIFY_SOCKET", "WATCHDOG_USEC", "CREDENTIALS_DIRECTORY", "WANDERD_LOG_LEVEL", "SECRET",
	} {
		if strings.Contains(env, "\n"+not) {
			t.Errorf("%s reaches the hook", not)
		}
	}
}

// Two agents cannot share a state directory, nor an address.
func TestSecondAgentIsRefused(t *testing.T) {
	t.Parallel()
	n, _ := one(t, "#!/bin/sh\n:\n", "--min-interval", "1h")
	n.logged("started")
	other := ports.For(t)
	for what, args := range map[string][]string{
		"state directory": {"--bind", other, "--state-dir", n.state},
		"address":         {"--bind", n.addr, "--state-dir", t.TempDir()},
	} {
		args = append(args, "--hook", "/bin/true", "--socket", filepath.Join(t.TempDir(), "s"))
		out, err := exec.Command(program(t), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "use") {
			t.Errorf("second agent on the same %s: %v\n%s", what, err, out)
		}
	}
}
