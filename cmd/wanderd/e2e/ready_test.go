package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
)

// asking is a fleet of one whose ready check is a script; the hook appends to $OUT.
func asking(t *testing.T, ready string, args ...string) (n *node, out string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "ready")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+ready), 0o700); err != nil {
		t.Fatal(err)
	}
	return one(t, "#!/bin/sh\necho ran >>$OUT\n", append([]string{
		"--ready", script, "--trust-hook", "--min-interval", "1h", "--retry-after", "300ms",
	}, args...)...)
}

// says waits until the host has given that answer that many times.
func (n *node) says(answer control.Answer, times uint64) {
	n.fleet.t.Helper()
	until(n.fleet.t, "it says "+string(answer), func() bool {
		s, ok := n.status()
		return ok && s.Gates[0].Ready != nil && s.Gates[0].Ready.Answers[string(answer)] >= times
	})
}

// run calls "wanderd run --wait".
func (n *node) run() (code int, output string) {
	n.fleet.t.Helper()
	cmd := exec.Command(program(n.fleet.t), "run", "--wait", "--state-dir", n.state)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func ran(out string) int {
	b, _ := os.ReadFile(out)
	return strings.Count(string(b), "ran\n")
}

func TestTheHookRunsWhenTheHostSaysYesAndKnowsItsGate(t *testing.T) {
	t.Parallel()
	n, out := asking(t, `env | grep ^WANDERD_ >"$OUT.env"`+"\nexit 0\n")
	until(t, "the hook has run", func() bool { return ran(out) == 1 })
	n.says(control.AnswerYes, 1)
	env, err := os.ReadFile(out + ".env")
	if text := string(env); err != nil || !strings.Contains(text, "WANDERD_GATE=default\n") ||
		strings.Contains(text, "WANDERD_SEQ") || strings.Contains(text, "WANDERD_HELD") {
		t.Errorf("ready is told %q, %v", env, err)
	}
}

func TestWhileTheHostSaysNoNothingRunsAndAnOperatorHearsIt(t *testing.T) {
	t.Parallel()
	n, out := asking(t, `[ -e "$OUT.yes" ] || exit 75`+"\n")
	n.says(control.AnswerNo, 3)
	if code, said := n.run(); code != 75 || !strings.Contains(said, "ready said 75: not needed now") {
		t.Errorf("run --wait: %d\n%s", code, said)
	}
	if ran(out) != 0 {
		t.Error("the hook has run")
	}
	if err := os.WriteFile(out+".yes", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the hook has run", func() bool { return ran(out) == 1 })
}

func TestAQuestionThatFailsIsSaidSoWithItsOutput(t *testing.T) {
	t.Parallel()
	n, out := asking(t, "echo the lists are broken >&2\nexit 3\n")
	n.says(control.AnswerError, 2)
	n.logged("the lists are broken")
	s, _ := n.status()
	if why := s.Gates[0].NotRunning; !strings.Contains(why, "exit status 3: the lists are broken") || ran(out) != 0 {
		t.Errorf("%q, %d runs", why, ran(out))
	}
}

func TestAQuestionThatHangsIsKilledWithAllThatItHasStarted(t *testing.T) {
	t.Parallel()
	n, out := asking(t, "trap '' TERM\nsh -c 'trap \"\" TERM; echo $$ >$OUT.pid; sleep 600'\n", "--ready-timeout", "1s",
		"--retry-after", "1h")
	pid := pidIn(t, out+".pid")
	until(t, "its child is gone", gone(pid))
	n.says(control.AnswerError, 1)
	n.logged("--ready-timeout")
	if ran(out) != 0 {
		t.Error("the hook has run")
	}
}

func TestAQuestionDoesNotOutliveAKilledAgent(t *testing.T) {
	t.Parallel()
	n, out := asking(t, "sh -c 'echo $$ >$OUT.pid; exec sleep 600'\n")
	pid := pidIn(t, out+".pid")
	n.signal(syscall.SIGKILL)
	until(t, "its child is gone", gone(pid))
}

func TestAReloadTurnsANoIntoAYes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "wanderd.toml")
	configure := func(program string) {
		if err := os.WriteFile(file, []byte("ready = \""+program+"\"\nretry_after = \"1h\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("sh -c 'exit 75'")
	n, out := one(t, "#!/bin/sh\necho ran >>$OUT\n", "--config", file, "--trust-hook", "--min-interval", "1h")
	n.says(control.AnswerNo, 1)
	configure("true")
	if code, said := n.reload(); code != 0 || !strings.Contains(said, "ready") {
		t.Errorf("%d\n%s", code, said)
	}
	until(t, "the hook has run", func() bool { return ran(out) == 1 })
}
