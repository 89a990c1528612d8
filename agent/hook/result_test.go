package hook

import (
	"syscall"
	"testing"
	"time"
)

func TestTheErrorSaysWhatHappened(t *testing.T) {
	spec := Spec{Argv: []string{"./sync.sh"}, Limits: Limits{Timeout: 10 * time.Minute, Grace: 10 * time.Second}}
	exited := func(status int) syscall.WaitStatus { return syscall.WaitStatus(status << 8) }
	killed := func(sig syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(sig) }
	for want, r := range map[string]report{
		"":                  {Reaped: true},
		"exit status 3":     {Reaped: true, Status: exited(3)},
		"killed by SIGSEGV": {Reaped: true, Status: killed(syscall.SIGSEGV)},
		"stopped after its timeout of 10m0s (killed by SIGTERM): make it faster, or raise --hook-timeout": {
			Reaped: true, Status: killed(syscall.SIGTERM), TimedOut: true,
		},
		"stopped after its timeout of 10m0s (it did not stop within 10s of SIGTERM; killed by SIGKILL): " +
			"make it faster, or raise --hook-timeout": {Reaped: true, Status: killed(syscall.SIGKILL), TimedOut: true},
		"stopped (exit status 0)": {Reaped: true, Stopped: true},
		"stopped (not dead yet)":  {Stopped: true, Undead: true},
		"not over: exit status 0, but processes of it survive SIGKILL": {Reaped: true, Leftovers: true, Undead: true},
		"hook ./sync.sh did not begin to run within its timeout of 10m0s: does the file system that it lies on hang?": {
			Unbegun: true, TimedOut: true, Reaped: true, Status: killed(syscall.SIGTERM),
		},
		"hook ./sync.sh cannot be executed: permission denied":               {Errno: syscall.EACCES},
		"hook ./sync.sh was killed, as its guard had died or did not answer": {GuardDied: true},
	} {
		got := ""
		if err := r.result(spec, time.Second).Err; err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
