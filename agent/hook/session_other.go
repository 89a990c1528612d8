//go:build unix && !linux

package hook

import (
	"os"
	"syscall"
)

func guardPath() (string, error) { return os.Executable() }

// operationAttr gives the operation a process group of its own in the guard's session.
func operationAttr(int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func adopt() {}

// executed always returns false, because it cannot be told here.
func executed(int) bool { return false }

// signal reaches every process of the operation's first process group.
func (op operation) signal(sig syscall.Signal, _ bool) {
	if op.group != 0 {
		_ = syscall.Kill(-op.group, sig)
	}
}

// seen reports whether the operation's first process group has a process.
func (op operation) seen(bool) bool { return op.group != 0 && syscall.Kill(-op.group, 0) == nil }

func keepOutputOpen() {}

func becomeSubreaper() {}

// killerOf finds nothing, because the processes of a caller are not known here.
func killerOf(int) (kill, forget func(), ok bool) { return nil, nil, false }
