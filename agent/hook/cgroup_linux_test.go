package hook

import (
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// needsCgroup skips a test where no group can be made, and returns where they are.
func needsCgroup(t *testing.T) (parent string) {
	t.Helper()
	c := newCgroup()
	if !c.isThere() {
		t.Skip("this process may not make control groups")
	}
	c.remove()
	return filepath.Dir(c.path)
}

// wantNoGroups checks that no group of those guards is left.
func wantNoGroups(t *testing.T, parent string, guards ...int) {
	t.Helper()
	for _, guard := range guards {
		eventually(t, func() (bool, bool) { return true, !cgroupOf(parent, guard).isThere() })
	}
}

// inSessionOfItsOwn is a process that ignores every request to end.
func inSessionOfItsOwn(tell string) string {
	return "setsid sh -c \"trap '' TERM; " + tell + "; while :; do sleep 0.01; done\" & "
}

// Everything that an agent has left behind is gone before its guard sends its releases, even what has left the session.
func TestProcessesThatLeftTheSessionDieWithTheAgent(t *testing.T) {
	parent := needsCgroup(t)
	w, e := newWitness(t), newEar(t)
	killAgentOf(t, w, 50*time.Millisecond, "echo $PPID >"+w.path+"x; "+inSessionOfItsOwn(":")+obstinate, e.addr())
	if got := e.hears(patience); got == "" || w.held(t) {
		t.Errorf("the guard says %q, and something of the hook lives", got)
	}
	wantNoGroups(t, parent, pidIn(t, w.path+"x"))
}

// The same holds if the guard is killed: the agent kills what is left, and if the agent is dead too, the next guard
// does.
func TestProcessesThatLeftTheSessionDieWithTheGuard(t *testing.T) {
	parent := needsCgroup(t)
	script := func(w *witness) string {
		return "echo $PPID >" + w.path + "x; " + inSessionOfItsOwn("echo started >&9") + "wait"
	}
	t.Run("the agent lives", func(t *testing.T) {
		w := newWitness(t)
		run, _ := start(t, shell("exec 9>"+w.path+"; "+script(w)))
		w.line(t)
		guard := pidIn(t, w.path+"x")
		_ = syscall.Kill(guard, syscall.SIGKILL)
		await(t, run)
		w.gone(t)
		wantNoGroups(t, parent, guard)
	})
	t.Run("the agent is dead", func(t *testing.T) {
		w := newWitness(t)
		agent := startAgentOf(t, w, patience, script(w))
		w.line(t)
		guard := pidIn(t, w.path+"x")
		_ = agent.Process.Signal(syscall.SIGSTOP)
		_ = syscall.Kill(guard, syscall.SIGKILL)
		_ = agent.Process.Kill()
		_ = agent.Wait()
		eventually(t, func() (bool, bool) { return true, syscall.Kill(guard, 0) != nil })
		run, _ := start(t, shell("exit 0"))
		await(t, run)
		w.gone(t)
		eventually(t, func() (bool, bool) {
			sweep(parent)
			return true, !cgroupOf(parent, guard).isThere()
		})
	})
}

// A hook that is killed at the end of its grace takes everything along that it has started.
func TestProcessesThatLeftTheSessionAreKilledWithTheHook(t *testing.T) {
	parent := needsCgroup(t)
	w := newWitness(t)
	spec := shell("exec 9>" + w.path + "; echo $PPID >" + w.path + "x; trap '' TERM; " +
		inSessionOfItsOwn("echo started >&9") + "while :; do sleep 0.01; done")
	spec.Grace = 50 * time.Millisecond
	run, _ := start(t, spec)
	w.line(t)
	run.Stop()
	if r := await(t, run); r.Signal != "SIGKILL" {
		t.Errorf("%+v", r)
	}
	w.gone(t)
	wantNoGroups(t, parent, pidIn(t, w.path+"x"))
}

// A hook that ends by itself leaves its daemons behind, outside of its group, which is gone.
func TestADaemonOutlivesTheGroupOfItsHook(t *testing.T) {
	parent := needsCgroup(t)
	w := newWitness(t)
	run, _ := start(t, shell("exec 9>"+w.path+"; echo $PPID >"+w.path+"x; setsid sh -c 'echo $$ >&9; exec sleep "+
		"1000' >/dev/null 2>&1 & exit 0"))
	daemon, err := strconv.Atoi(w.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(daemon, syscall.SIGKILL) }()
	if r := await(t, run); r.Err != nil || r.Leftovers {
		t.Errorf("%+v", r)
	}
	wantNoGroups(t, parent, pidIn(t, w.path+"x"))
	if !slices.Contains(cgroup{parent}.procs(), strconv.Itoa(daemon)) {
		t.Error("the daemon is not where its hook was started from")
	}
}
