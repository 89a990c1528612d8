package hook

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hanging is a program whose execution hangs, as on a file system that no longer answers: this process has a lease
// (fcntl(2)) on the program's file, and does not give it up.
type hanging struct {
	path, ran string
	lease     *os.File
}

func newHanging(t *testing.T) *hanging {
	t.Helper()
	h := &hanging{path: filepath.Join(t.TempDir(), "hook.sh"), ran: filepath.Join(t.TempDir(), "ran")}
	if err := os.WriteFile(h.path, []byte("#!/bin/sh\n: >"+h.ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if h.lease, err = os.Open(h.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.lease.Close() })
	if _, err := unix.FcntlInt(h.lease.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no lease on a file here: %v", err)
	}
	return h
}

// start starts it as a hook, and waits until that hangs.
func (h *hanging) start(t *testing.T, timeout time.Duration) *Run {
	t.Helper()
	run, _ := start(t, Spec{
		Argv: []string{h.path}, Limits: Limits{Timeout: timeout, Grace: patience, OrphanGrace: patience},
	})
	eventually(t, func() (bool, bool) {
		is, err := unix.FcntlInt(h.lease.Fd(), unix.F_GETLEASE, 0)
		return true, err == nil && is != unix.F_WRLCK
	})
	return run
}

// An operation that hangs before it has begun to run is ended like one that hangs later: by its timeout, by a stop, and
// when its agent dies.
func TestAProgramThatHangsBeforeItRunsIsEnded(t *testing.T) {
	t.Run("by its timeout", func(t *testing.T) {
		h := newHanging(t)
		if r := await(t, h.start(t, 300*time.Millisecond)); !r.TimedOut || !r.NotExecuted || r.Undead {
			t.Errorf("%+v", r)
		}
		h.hasNotRun(t)
	})
	t.Run("by a stop", func(t *testing.T) {
		h := newHanging(t)
		run := h.start(t, patience)
		run.Stop()
		if r := await(t, run); !r.Stopped || r.Undead {
			t.Errorf("%+v", r)
		}
		h.hasNotRun(t)
	})
	t.Run("when its agent dies", func(t *testing.T) {
		h, e := newHanging(t), newEar(t)
		run := h.start(t, patience)
		run.PreSigned([]Word{{To: e.LocalAddr().(*net.UDPAddr).AddrPort(), Datagram: []byte("dead")}})
		eventually(t, func() (bool, bool) {
			run.lifeline.mu.Lock()
			defer run.lifeline.mu.Unlock()
			return true, run.lifeline.next.Words == nil
		})
		time.Sleep(50 * time.Millisecond) // until that is written
		_ = run.lifeline.pipe.(io.Closer).Close()
		if got := e.hears(patience); got != "dead" {
			t.Errorf("the guard says %q", got)
		}
		await(t, run)
		h.hasNotRun(t)
	})
}

func (h *hanging) hasNotRun(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(h.ran); err == nil {
		t.Error("it has run")
	}
}

// A guard that stands still reports nothing, and its timeout does not strike.
func TestAGuardThatHangsIsKilledWithItsHook(t *testing.T) {
	w := newWitness(t)
	spec := shell("exec 9>" + w.path + "; echo $PPID >" + w.path + "x; echo ready >&9; while :; do sleep 1; done")
	spec.Timeout, spec.Grace = 100*time.Millisecond, 100*time.Millisecond
	run, log := start(t, spec)
	w.line(t)
	guard := pidIn(t, w.path+"x")
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if r := await(t, run); !r.TimedOut || r.Undead || r.Err == nil || !strings.Contains(r.Err.Error(), "guard") ||
		!log.has(t, "does not answer") {
		t.Errorf("%+v", r)
	}
	w.gone(t)
}
