package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// onDemand is a fleet of some agents with a gate without a hook.
func onDemand(t testing.TB, size int, settings ...string) *fleet {
	t.Helper()
	f := newFleet(t, size)
	file := filepath.Join(f.dir, "gates.toml")
	skip := "100ms"
	if size == 1 { // no token to wait for; a guard has half a skip to start, which is too short on a busy machine
		skip = "2s"
	}
	text := "skip = \"" + skip + "\"\n[[gate]]\nname = \"g\"\n" + strings.Join(settings, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f.noHook, f.args = true, []string{"--config", file}
	return f
}

// alone starts one agent, whose gate is on call: the first caller brings about its token.
func alone(t testing.TB, settings ...string) *node {
	t.Helper()
	n := onDemand(t, 1, settings...).nodes[0]
	n.start()
	n.answers()
	return n
}

// answers waits until the node answers on its control socket.
func (n *node) answers() {
	n.fleet.t.Helper()
	until(n.fleet.t, n.name+" answers", func() bool {
		_, ok := n.status()
		return ok
	})
}

// callers returns the callers that the node lists.
func (n *node) callers() []control.Caller {
	s, ok := n.status()
	if !ok {
		return nil
	}
	return s.Gates[0].Callers
}

// runsOne waits until a command runs.
func (n *node) runsOne() {
	n.fleet.t.Helper()
	until(n.fleet.t, "a command runs", func() bool {
		callers := n.callers()
		return len(callers) > 0 && callers[0].Running
	})
}

// runsUntilReleased starts a command that runs until it is released.
func (n *node) runsUntilReleased(first string) (c *caller, release func()) {
	n.fleet.t.Helper()
	released := filepath.Join(n.fleet.dir, "released")
	c = n.exec("--", "sh", "-c", first+"; while ! [ -e "+released+" ]; do sleep 0.05; done").begin()
	n.runsOne()
	return c, func() {
		n.fleet.t.Helper()
		if err := os.WriteFile(released, nil, 0o600); err != nil {
			n.fleet.t.Fatal(err)
		}
	}
}

// caller is "wanderd exec" on the node's host.
type caller struct {
	*exec.Cmd
	out, errs bytes.Buffer
	t         testing.TB
	ended     chan struct{}
}

// exec prepares a caller, "wanderd exec". It has its own process group. Otherwise, if a process is stopped when the
// last command of an orphaned group ends, the kernel would hang up this test and its agents.
func (n *node) exec(args ...string) *caller {
	n.fleet.t.Helper()
	c := &caller{
		Cmd: exec.Command(program(n.fleet.t), append([]string{"exec", "--state-dir", n.state}, args...)...),
		t:   n.fleet.t,
	}
	c.Stdout, c.Stderr = &c.out, &c.errs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = patience
	return c
}

// begin starts the caller.
func (c *caller) begin() *caller {
	c.t.Helper()
	if err := c.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.ended = make(chan struct{})
	go func() {
		_ = c.Wait()
		close(c.ended)
	}()
	c.t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ended
	})
	return c
}

// code waits for the caller's end.
func (c *caller) code() int {
	c.t.Helper()
	if c.ended == nil {
		c.begin()
	}
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatalf("%v does not end", c.Args)
	}
	return c.ProcessState.ExitCode()
}

func (c *caller) wantCode(want int, says string) {
	c.t.Helper()
	if got := c.code(); got != want || !strings.Contains(c.errs.String(), says) {
		c.t.Errorf("%v ends with %d, want %d:\n%s", c.Args[4:], got, want, c.errs.String())
	}
}

func (c *caller) signal(sig syscall.Signal) {
	c.t.Helper()
	if err := c.Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}

// script writes a program for a command.
func (f *fleet) script(text string) (path string) {
	f.t.Helper()
	path = filepath.Join(f.dir, fmt.Sprintf("script%d.sh", len(text)))
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func TestTheExitCodeOfACommandIsPassedThrough(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for want, script := range map[int]string{
		0: "exit 0", 1: "exit 1", 69: "exit 69", 70: "exit 70", 75: "exit 75", 255: "exit 255",
		128 + 9: "kill -9 $$", 128 + 15: "kill $$", 128 + 10: "kill -USR1 $$", 128 + 34: "kill -34 $$",
	} {
		c := n.exec("--", "sh", "-c", script)
		c.wantCode(want, "")
		if c.out.Len()+c.errs.Len() > 0 {
			t.Errorf("%s: it says %s%s", script, c.out.String(), c.errs.String())
		}
	}
}

func TestTheCommandIsTheCallersInEverything(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c := n.exec("sh", "-c", `cat; pwd; echo "$OWN $WANDERD_HELD $WANDERD_GATE $WANDERD_SEQ $WANDERD_NAME `+
		`$WANDERD_MEMBERS ${WANDERD_DEADLINE-none}"; id -u; umask; echo error >&2`, "--", "-x")
	c.Stdin, c.Dir = strings.NewReader("input\n"), t.TempDir()
	c.Env = append(os.Environ(), "OWN=mine", "PWD="+c.Dir, "WANDERD_SEQ=999")
	c.wantCode(0, "error\n")
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	want := fmt.Sprintf("input\n%s\nmine 1 g 1 m1 1 none\n%d\n%04o\n", c.Dir, os.Getuid(), mask)
	if got := c.out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSignalsToTheCallerReachTheCommandOnce(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for name, sig := range map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT,
		"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH,
	} {
		pid := filepath.Join(t.TempDir(), "pid")
		c := n.exec("--", "sh", "-c", "trap 'echo got' "+name+"; echo $$ >"+pid+
			"; i=0; while [ $i -lt 30 ]; do i=$((i+1)); sleep 0.01; done; exit 5").begin()
		pidIn(t, pid)
		c.signal(sig)
		c.wantCode(5, "")
		if c.out.String() != "got\n" {
			t.Errorf("%s: %q", name, c.out.String())
		}
	}
}

// A pipeline stays a pipeline: no process holds its ends open, and the rest of it is left alone.
func TestACommandInAPipeline(t *testing.T) {
	t.Parallel()
	n := alone(t)
	line := fmt.Sprintf("seq 5 | %s exec --state-dir %s -- sh -c 'cat; yes' | head -n 7; echo done", program(t),
		n.state)
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil || string(out) != "1\n2\n3\n4\n5\ny\ny\ndone\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestOnlyOneCommandRunsAtATime(t *testing.T) {
	t.Parallel()
	f := onDemand(t, 3)
	f.start()
	for _, n := range f.nodes {
		until(t, n.name+" sees the others", func() bool {
			s, ok := n.status()
			return ok && s.Members == 3
		})
	}
	lock := filepath.Join(f.dir, "lock")
	script := f.script("mkdir " + lock + " || exit 99\nsleep 0.02\nrmdir " + lock + "\n")
	var callers []*caller
	for range 3 {
		for _, n := range f.nodes {
			callers = append(callers, n.exec("--", script).begin())
		}
	}
	for _, c := range callers {
		c.wantCode(0, "")
	}
}

func TestCallersOfOneHostHaveTheirTurnsInTheOrderInWhichTheyAsked(t *testing.T) {
	t.Parallel()
	n := alone(t)
	order := filepath.Join(n.fleet.dir, "order")
	first, release := n.runsUntilReleased("echo a >>" + order)
	var others []*caller
	for i, name := range []string{"b", "c", "d"} {
		others = append(others, n.exec("--", "sh", "-c", "echo "+name+" >>"+order).begin())
		until(t, "it waits", func() bool { return len(n.callers()) == i+2 })
	}
	var callers []control.Caller
	until(t, "status lists all of them", func() bool {
		callers = n.callers()
		return len(callers) == 4
	})
	for i, c := range append([]*caller{first}, others...) {
		if got := callers[i]; got.PID != c.Process.Pid || got.Command != "sh" || got.Running != (i == 0) {
			t.Errorf("status lists %+v at place %d, want process %d", got, i, c.Process.Pid)
		}
	}
	text, err := exec.Command(program(t), "status", "--state-dir", n.state).Output()
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("sh (%d), waiting for ", others[0].Process.Pid)) {
		t.Errorf("%s, %v", text, err)
	}
	release()
	for _, c := range append(others, first) {
		c.wantCode(0, "")
	}
	if got, _ := os.ReadFile(order); string(got) != "a\nb\nc\nd\n" {
		t.Errorf("%q", got)
	}
}

func TestACallerThatIsNotServedInTimeGivesUp(t *testing.T) {
	t.Parallel()
	n := alone(t)
	running := n.exec("--", "sleep", "30").begin()
	n.runsOne()
	n.exec("--wait", "200ms", "--", "true").
		wantCode(75, fmt.Sprintf("not granted within 200ms: gate g: sleep (%d) runs on this host", running.Process.Pid))
	n.exec("-w", "200ms", "-E", "3", "--", "true").wantCode(3, "raise --wait")
	n.exec("--nonblock", "--", "true").wantCode(75, "cannot be had at once")
	n.exec("-n", "-E", "0", "--", "false").wantCode(0, "")
	waits := n.exec("--", "true").begin()
	until(t, "it waits", func() bool { return len(n.callers()) == 2 })
	waits.signal(syscall.SIGINT)
	waits.wantCode(128+int(syscall.SIGINT), "")
	until(t, "it waits no longer", func() bool { return len(n.callers()) == 1 })
	running.signal(syscall.SIGTERM)
	running.wantCode(128+int(syscall.SIGTERM), "")
	n.exec("-n", "--", "true").wantCode(0, "")
}

func TestAMistakeOfACallerHasAnExitCodeAndARemedy(t *testing.T) {
	t.Parallel()
	n := alone(t)
	plain := filepath.Join(n.fleet.dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.exec("--gate", "h", "--", "true").wantCode(64, "its gates are g: name one of them with --gate")
	n.exec().wantCode(64, "exec needs a command")
	n.exec("--wait", "soon", "--", "true").wantCode(64, "not a duration")
	n.exec("-n", "-w", "1s", "--", "true").wantCode(64, "exclude each other")
	n.exec("--nonblok", "--", "true").wantCode(64, "did you mean --nonblock?")
	n.exec("--", "no-such-command").wantCode(127, "check its name, and PATH")
	n.exec("--", plain).wantCode(126, "check its mode")
	n.exec("--", n.fleet.dir).wantCode(126, "")
	n.exec("--socket", "/nowhere/s", "--", "true").wantCode(69, "no agent answers on /nowhere/s")
	n.exec("--config", "/nowhere/c", "--", "true").wantCode(78, "/nowhere/c")
	inner := n.exec("--", program(t), "exec", "--state-dir", n.state, "--", "true")
	inner.wantCode(64, "would wait for itself")
}

// deaf is a command that ignores every request to end, and so does what it starts, in its own process group and in
// another one.
func deaf(dir string) string {
	return "trap '' TERM INT HUP; echo $$ >" + dir + "/1; sh -c 'echo $$ >" + dir +
		"/2; while :; do sleep 0.1; done' & " +
		"set -m; sh -c 'echo $$ >" + dir + "/3; while :; do sleep 0.1; done' & set +m; while :; do sleep 0.1; done"
}

// wantAllGone waits until a deaf command is dead with all that it has started.
func wantAllGone(t *testing.T, dir string, pids []int) {
	t.Helper()
	for _, pid := range pids {
		until(t, fmt.Sprintf("process %d of %s is gone", pid, dir), gone(pid))
	}
}

// runDeaf starts a command that is deaf.
func (n *node) runDeaf(args ...string) (c *caller, dir string, pids []int) {
	n.fleet.t.Helper()
	t := n.fleet.t.(*testing.T)
	dir = t.TempDir()
	c = n.exec(append(args, "--", "sh", "-c", deaf(dir))...).begin()
	for _, file := range []string{"1", "2", "3"} {
		pids = append(pids, pidIn(t, filepath.Join(dir, file)))
	}
	return c, dir, pids
}

func TestACommandThatTakesTooLongIsStoppedWithAllThatItHasStarted(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c, dir, pids := n.runDeaf("--timeout", "300ms", "--kill-after", "100ms")
	c.wantCode(124, "stopped after its timeout")
	wantAllGone(t, dir, pids)
	n.exec("--timeout", "100ms", "--", "sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.01; done").wantCode(124, "")
	n.exec("-n", "--", "true").wantCode(0, "")
}

func TestTheGatesLimitHoldsForCommands(t *testing.T) {
	t.Parallel()
	n := alone(t, `hook_timeout = "300ms"`)
	n.exec("--timeout", "1h", "--", "sleep", "600").wantCode(124, "")
	c := n.exec("--", "sh", "-c", `[ "$WANDERD_DEADLINE" -gt 0 ]`)
	c.wantCode(0, "")
}

// Whichever is killed, the caller, its guard or the agent: nothing of the command is left, and the next caller has its
// turn.
func TestACommandDoesNotOutliveItsCaller(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c, dir, pids := n.runDeaf("--kill-after", "100ms")
	c.signal(syscall.SIGKILL)
	c.code()
	wantAllGone(t, dir, pids)
	n.exec("-w", "20s", "--", "true").wantCode(0, "")
}

func TestACommandDoesNotOutliveItsGuard(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c, dir, pids := n.runDeaf()
	if err := syscall.Kill(parentOf(t, pids[0]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.wantCode(70, "its guard had died")
	wantAllGone(t, dir, pids)
	n.exec("-w", "20s", "--", "true").wantCode(0, "")
}

// parentOf returns the parent of a process.
func parentOf(t *testing.T, pid int) (parent int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var state string
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		t.Fatal(err)
	}
	return parent
}

func TestACommandDoesNotOutliveTheAgent(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c, dir, pids := n.runDeaf()
	n.kill()
	c.wantCode(70, "the agent on this host has died")
	wantAllGone(t, dir, pids)
}

func TestACallerThatWaitsIsToldThatTheAgentHasGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*node){"killed": (*node).kill, "stopped": func(n *node) {
		n.signal(syscall.SIGTERM)
	}} {
		t.Run(name, func(t *testing.T) {
			n := alone(t)
			n.exec("--", "sleep", "60").begin()
			n.runsOne()
			waits := n.exec("--", "true").begin()
			until(t, "it waits", func() bool { return len(n.callers()) == 2 })
			end(n)
			waits.wantCode(69, "agent")
		})
	}
}

func TestAnAgentThatIsStoppedStopsTheCommand(t *testing.T) {
	t.Parallel()
	n := alone(t)
	pid := filepath.Join(n.fleet.dir, "pid")
	c := n.exec("--", "sh", "-c", "echo $$ >"+pid+"; exec sleep 600").begin()
	pidIn(t, pid) // it has begun: one that is granted and has not begun is refused, with 69
	n.signal(syscall.SIGTERM)
	c.wantCode(70, "the agent is stopping")
	if code := n.exits(); code != 0 {
		t.Errorf("the agent ends with %d", code)
	}
}

// A service manager that stops a unit signals all of its processes at once: how the command reacts decides how it ends.
func TestASignalToAllProcessesReachesTheCommand(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for script, want := range map[string]int{"trap 'exit 7' TERM; ": 7, "": 128 + int(syscall.SIGTERM)} {
		file := filepath.Join(t.TempDir(), "pid")
		c := n.exec("--", "sh", "-c", script+"echo $$ >"+file+"; while :; do sleep 0.01; done").begin()
		pid := pidIn(t, file)
		guard := parentOf(t, pid)
		for _, p := range []int{guard, pid, c.Process.Pid} {
			_ = syscall.Kill(p, syscall.SIGTERM)
		}
		c.wantCode(want, "")
		if strings.Contains(c.errs.String(), "lost") {
			t.Error(c.errs.String())
		}
	}
}

// A caller that stands still when its turn comes delays nobody, and has a turn later.
func TestACallerThatStandsStillLosesItsTurnOnly(t *testing.T) {
	t.Parallel()
	n := alone(t)
	first, release := n.runsUntilReleased(":")
	still := n.exec("--", "sh", "-c", "echo ran").begin()
	until(t, "it waits", func() bool { return len(n.callers()) == 2 })
	still.signal(syscall.SIGSTOP)
	release()
	n.exec("--", "true").wantCode(0, "")
	first.wantCode(0, "")
	still.signal(syscall.SIGCONT)
	still.wantCode(0, "")
	if still.out.String() != "ran\n" {
		t.Errorf("%q", still.out.String())
	}
}

func TestProcessesLeftByACommandAreStoppedUnlessTheyAreDaemons(t *testing.T) {
	t.Parallel()
	n := alone(t)
	dir := t.TempDir()
	left, daemon := filepath.Join(dir, "left"), filepath.Join(dir, "daemon")
	c := n.exec("--", "sh", "-c", fmt.Sprintf("(sh -c 'echo $$ >%s; exec sleep 600') & setsid sh -c 'echo $$ >%s; "+
		"exec sleep 600' & while ! [ -s %[1]s ] || ! [ -s %[2]s ]; do sleep 0.01; done; exit 4", left, daemon))
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	c.Stdout, c.Stderr = nil, said // a daemon would keep a pipe open
	c.wantCode(4, "")
	alive := pidIn(t, daemon)
	defer func() { _ = syscall.Kill(alive, syscall.SIGKILL) }()
	until(t, "what is left is gone", gone(pidIn(t, left)))
	if gone(alive)() {
		t.Error("the daemon is gone, too")
	}
	if text, _ := os.ReadFile(said.Name()); !strings.Contains(string(text), "left processes behind") {
		t.Errorf("%q", text)
	}
}

// The log has the name of the command and its process number, and nothing else of it.
func TestNothingOfACommandReachesTheLogButItsName(t *testing.T) {
	t.Parallel()
	n := alone(t)
	c := n.exec("--", "sh", "-c", ": password-in-argv; echo password-in-output")
	c.Env = append(os.Environ(), "PASSWORD=password-in-environment")
	c.wantCode(0, "")
	n.logged("command ended")
	log, err := os.ReadFile(n.log)
	if err != nil || bytes.Contains(log, []byte("password")) || !bytes.Contains(log, []byte(`"command":"sh"`)) {
		t.Errorf("%s, %v", log, err)
	}
}

// In a gate with a hook, a command need not wait for min_interval, and does not count as a run of the hook.
func TestAGateWithAHookTakesCommands(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "--skip", "100ms", "--min-interval", "1h")
	f.first()
	n := f.nodes[0]
	n.exec("--", "sh", "-c", "[ $WANDERD_SEQ -gt 1 ]").wantCode(0, "")
	n.exec("--gate", "default", "--", "false").wantCode(1, "")
	if s, ok := n.status(); !ok || s.Gates[0].Runs != 1 || s.Gates[0].Commands != 2 || s.Gates[0].FailedLast() ||
		len(f.runs()) != 1 {
		t.Errorf("%+v, and the hook ran %d times", s.Gates, len(f.runs()))
	}
}

// reachable lets other users of this host reach the program and a node's directory.
func (n *node) reachable() {
	n.fleet.t.Helper()
	for _, dir := range []string{n.state, filepath.Dir(program(n.fleet.t))} {
		for ; dir != "/"; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
				if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
					n.fleet.t.Fatal(err)
				}
			}
		}
	}
}

// nobody is a user, and a group, that owns nothing.
const nobody = 65534

func (c *caller) as(group uint32) *caller {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: group}}
	return c
}

// A user who may not use the socket is told which users may.
func TestAUserOutsideTheSocketsGroupMayNotAsk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	n := alone(t)
	n.reachable()
	socket := filepath.Join(n.state, "wanderd.sock")
	n.exec("--socket", socket, "--", "true").as(nobody).wantCode(77, "run this as root, with sudo")
	// The mode of the file is one line of defence, the credentials of the connection are another one.
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	n.exec("--socket", socket, "--", "true").as(nobody).
		wantCode(77, "run this as the agent's user, as a member of its socket_group, or as root")
}

// The members of the socket's group run commands, which belong to them, and see the state. They can neither stop the
// agent nor see the output of hooks.
func TestAMemberOfTheSocketsGroupMayAsk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	f := onDemand(t, 1)
	n := f.nodes[0]
	place := filepath.Join(f.dir, "run")
	if err := os.Mkdir(place, 0o711); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(place, "s")
	n.args = []string{"--socket", socket, "--socket-group", fmt.Sprint(nobody)}
	n.start()
	until(t, "it answers", func() bool { return exec.Command(program(t), "status", "--socket", socket).Run() == nil })
	n.reachable()
	c := n.exec("--socket", socket, "--", "sh", "-c", "id -u").as(nobody)
	c.wantCode(0, "")
	if c.out.String() != fmt.Sprintln(nobody) {
		t.Errorf("it runs as %q", c.out.String())
	}
	n.exec("--socket", socket, "--", "true").as(nobody-1).wantCode(77, "as a member of group")
	for command, want := range map[string]int{"status": 0, "members": 0, "history": 77, "drain": 77} {
		c := n.exec().as(nobody)
		c.Args = []string{c.Args[0], command, "--socket", socket}
		if got := c.code(); got != want {
			t.Errorf("%s ends with %d, want %d: %s", command, got, want, c.errs.String())
		}
	}
}
