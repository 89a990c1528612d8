// Package early starts guards, and that of "wanderd exec" before nearly everything else of the program is initialised:
// on another processor, the guard starts while the program does. For that, the package imports only packages that the
// runtime initialises first.
//
// Its decisions, in docs/decisions: 093.
package early

import (
	"os"
	"runtime"
	"syscall"
)

const (
	// GuardName is the name of a guard, as process and in its arguments, and that of its program.
	GuardName = "hook-guard"
	// Exec is the name of the command whose guard starts early.
	Exec = "exec"
)

// Guard is the guard of a caller's command, which waits for its task.
type Guard struct {
	PID int
	// Lifeline and Report are the caller's ends of its pipes.
	Lifeline, Report *os.File
	// Socket is a unix socket that is not connected yet. The guard has it, too, and so needs to know nothing of the
	// agent when it starts.
	Socket *os.File
	// Scripted is true if there is no terminal, and this process is one of several in its group.
	Scripted bool
}

// first is the guard that was started early, until it is used.
var first *Guard //nolint:gochecknoglobals // an initialisation has no other way to hand something over

func init() {
	if len(os.Args) > 1 && os.Args[1] == Exec {
		runtime.GOMAXPROCS(1) // to wake other threads would be most of the work
		first, _ = start()    // if that fails, Start tries again
	}
}

// Start returns the guard that was started early, once, and otherwise starts one.
func Start() (*Guard, error) {
	if g := first; g != nil {
		first = nil
		return g, nil
	}
	return start()
}

func start() (*Guard, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	theirLifeline, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	report, theirReport, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	socket, err := newSocket()
	if err != nil {
		return nil, err
	}
	g := &Guard{Lifeline: lifeline, Report: report, Socket: socket, Scripted: isScripted()}
	// Package os/exec would first start another process, to find out what the kernel can do.
	g.PID, err = syscall.ForkExec(program, []string{GuardName}, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2, theirLifeline.Fd(), theirReport.Fd(), socket.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	_, _ = theirLifeline.Close(), theirReport.Close()
	if err != nil {
		return nil, err
	}
	await := `{"await":true}`
	if g.Scripted {
		await = `{"await":true,"apart":true}`
	}
	_, _ = lifeline.WriteString(await) // a guard that has died reports nothing
	return g, nil
}

func newSocket() (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "agent"), nil
}

func isScripted() bool {
	terminal, err := os.Open("/dev/tty")
	if err == nil {
		_ = terminal.Close()
	}
	return err != nil && syscall.Getpgrp() != syscall.Getpid()
}
