package hook

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The agent stands still before it could tell the guard to stop: the guard ends the hook by its own clock.
func TestAHookIsGoneByTheEndOfItsGrantAlthoughItsAgentStandsStill(t *testing.T) {
	for name, script := range map[string]string{
		"it obeys":         "echo ready >&9; exec sleep 1000",
		"it is obstinate":  "trap '' TERM; (trap '' TERM; echo ready >&9; while :; do sleep 1000; done) & wait",
		"it stands still":  "echo ready >&9; kill -STOP $$",
		"it has daemons":   "setsid sleep 0.01 & echo ready >&9; while :; do sleep 0.01; done",
		"it forks forever": "trap '' TERM; echo ready >&9; while :; do sleep 0.001 & done",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWitness(t)
			until := sinceBoot() + 2*time.Second
			t.Setenv(untilVar, until.String())
			agent := startAgentOf(t, w, patience, script)
			w.line(t)
			if err := agent.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = agent.Process.Kill()
				_ = agent.Wait()
			})
			w.gone(t)
			t.Logf("gone %v before the end", (until - sinceBoot()).Round(time.Millisecond))
			if state := stateOf(t, agent.Process.Pid); state != "T" {
				t.Errorf("the agent is in state %q: it may have had a hand in it", state)
			}
		})
	}
}

// stateOf returns the state of a process, as in proc_pid_stat(5).
func stateOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
}

func TestTheEndOfAGrantIsToldApart(t *testing.T) {
	w := newWitness(t)
	spec := shell("exec 9>" + w.path + "; echo ready >&9; exec sleep 1000")
	spec.Until = sinceBoot() + time.Hour + spec.Grace
	run, _ := start(t, spec)
	w.line(t)
	run.Extend(sinceBoot() + spec.Grace + KillMargin) // it has to end now
	if r := await(t, run); !r.Expired || r.TimedOut || r.Stopped || r.Err == nil ||
		!strings.Contains(r.Err.Error(), "at the end of its grant") {
		t.Errorf("%+v", r)
	}
}

func TestAGrantThatIsExtendedGoesOn(t *testing.T) {
	w := newWitness(t)
	spec := shell("exec 9>" + w.path + "; echo ready >&9; sleep 1; exit 7")
	spec.Grace = time.Millisecond
	spec.Until = sinceBoot() + time.Hour
	run, _ := start(t, spec)
	w.line(t)
	run.Extend(sinceBoot() + patience)
	if r := await(t, run); r.Expired || r.Exit != 7 {
		t.Errorf("%+v", r)
	}
}

func TestAHookWhoseGrantIsOverIsNotExecuted(t *testing.T) {
	w := newWitness(t)
	spec := shell("echo ran >" + w.path)
	spec.Until = sinceBoot() + spec.Grace // less than it takes to end it
	run, _ := start(t, spec)
	if r := await(t, run); !r.NotExecuted || !r.Expired || r.Err == nil {
		t.Errorf("%+v", r)
	}
	if w.held(t) {
		t.Error("it was executed")
	}
}

func TestABootAlarmRingsWhenItIsTimeAndCanBeMoved(t *testing.T) {
	var alarm bootAlarm
	if !alarm.set(sinceBoot() + time.Hour) {
		t.Fatal("it cannot be set")
	}
	defer alarm.remove()
	at := sinceBoot() + 20*time.Millisecond
	alarm.set(at)
	<-alarm.rings
	if now := sinceBoot(); now < at {
		t.Errorf("it rings %v too early", at-now)
	}
}

// The guard was stopped (SIGSTOP), so it ends nothing. The agent knows the processes and the end of the grant, and
// kills everything that the operation has started, even if the grant was extended.
func TestAHookIsGoneByTheEndOfItsGrantAlthoughItsGuardIsStopped(t *testing.T) {
	for name, script := range map[string]string{
		"one process": "echo $PPID >&9; exec sleep 1000",
		"many processes": "trap '' TERM; (trap '' TERM; setsid sleep 1000 & while :; do sleep 1000; done) & sleep " +
			"0.1; echo $PPID >&9; wait",
		"it forks forever": "trap '' TERM; echo $PPID >&9; while :; do sleep 0.001 & done",
	} {
		for _, extended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, extended %v", name, extended), func(t *testing.T) {
				w := newWitness(t)
				spec := shell("exec 9>" + w.path + "; " + script)
				spec.Grace = time.Millisecond
				until := sinceBoot() + 2*time.Second
				spec.Until = until
				run, _ := start(t, spec)
				guard, err := strconv.Atoi(strings.TrimSpace(w.line(t)))
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				if extended {
					until += 500 * time.Millisecond
					run.Extend(until)
				}
				r := await(t, run)
				if at := sinceBoot(); at < until-KillMargin {
					t.Errorf("it is over %v before the end of its grant", until-at)
				}
				if r.Err == nil || !strings.Contains(r.Err.Error(), "did not answer") {
					t.Errorf("%+v", r)
				}
				if name != "many processes" { // one of them has left the session, which only a control group follows
					w.gone(t)
				}
			})
		}
	}
}

// The guard of a caller's command is stopped: the agent kills what the caller has started, and not the caller, which
// goes on, although it has been stopped with its command.
func TestACommandIsKilledByTheEndOfItsGrantAlthoughItsGuardIsStopped(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprintf("its caller is stopped %v", stopped), func(t *testing.T) { aGuardIsStopped(t, stopped) })
	}
}

func aGuardIsStopped(t *testing.T, callerToo bool) {
	w := newWitness(t)
	caller := exec.Command("sh", "-c", "exec 9>"+w.path+
		"; (trap '' TERM; sleep 1000 & echo ready >&9; wait) & exec 9>&-; wait; sleep 1000")
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = caller.Process.Kill()
		_ = caller.Wait()
	})
	w.line(t)
	r, f := newRemote(t)
	until := sinceBoot() + time.Second
	ended := make(chan Result, 1)
	go func() {
		run, err := r.Start(Spec{
			Argv: []string{"x"}, Caller: caller.Process.Pid, Limits: Limits{Until: until, Grace: 1},
		}, time.Now().Add(patience))
		if err == nil {
			ended <- <-run.Done()
		}
	}()
	f.hears()
	f.says(report{Ready: true})
	f.hears()
	if callerToo {
		if err := caller.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	w.gone(t)
	if at := sinceBoot(); at < until-KillMargin {
		t.Errorf("it is gone %v before the end of its grant", until-at)
	}
	for begun := time.Now(); stateOf(t, caller.Process.Pid) == "T" && time.Since(begun) < patience; {
		time.Sleep(time.Millisecond)
	}
	if state := stateOf(t, caller.Process.Pid); state == "Z" || state == "T" {
		t.Errorf("the caller is killed or stopped, too: %s", state)
	}
	_ = f.Close()
	<-ended
}
