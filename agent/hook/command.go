package hook

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A caller's command has the caller's streams, terminal, directory, environment and user, because the caller starts it:
//
//	agent ═ control socket ═ guard ──▶ command ──▶ …
//	                           ▲          │
//	  caller ──── lifeline ────┤          │ the caller's process group, which a shell knows as its job
//	    ▲                      │          ▼
//	    └──────── report ──────┘       terminal
//
// The guard has a process group of its own. When the command runs, the caller joins the guard's group: so a Ctrl-C
// reaches the command once, by the terminal, and a signal to the caller reaches the command once, by the caller. In a
// script without a terminal the guard has a session of its own, and the caller a group of its own.

// Command is a command that waits for its grant. Its guard runs already.
type Command struct {
	guard            *exec.Cmd
	lifeline, report pipe
	reports          chan report
	// up is closed when the guard waits for its order, or has died.
	up chan struct{}
	// apart is true if the caller is not in the command's process group.
	apart bool
	// scripted is true if there is no terminal, and the caller is one of several processes in its group.
	scripted bool
}

// Order is what the caller tells a command's guard to do.
type Order struct {
	// Path is the program, Argv its arguments, beginning with the name of the program.
	Path string
	Argv []string
	// Timeout is how long the command may run; zero sets no limit. KillAfter is the time from SIGTERM to SIGKILL.
	Timeout, KillAfter time.Duration
	Grant              Grant
	// Heard is what has been read from the agent after the grant.
	Heard []byte
}

// Prepare starts the guard of a command. agent is the connection on which the agent grants it.
func Prepare(agent syscall.Conn) (*Command, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("this system does not tell which processes a command has started: run it on Linux")
	}
	c := &Command{
		scripted: !hasTerminal() && syscall.Getpgrp() != os.Getpid(), reports: make(chan report),
		up: make(chan struct{}),
	}
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	connection, err := duplicate(agent)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	for _, one := range []*pipe{&c.lifeline, &c.report} {
		if one.r, one.w, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	becomeSubreaper() // of what the guard leaves behind if it is killed
	c.guard = exec.Command(self)
	c.guard.Args = []string{GuardName}
	c.guard.Stdin, c.guard.Stdout, c.guard.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.guard.ExtraFiles = []*os.File{c.lifeline.r, c.report.w, connection}
	c.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.guard.Start(); err != nil {
		return nil, err
	}
	_, _ = c.lifeline.r.Close(), c.report.w.Close()
	c.tell(&instruction{Await: true})
	go func() {
		defer close(c.reports)
		up := sync.OnceFunc(func() { close(c.up) })
		defer up()
		readReport(c.report.r, func(now report) {
			if up(); now != (report{Up: true}) {
				c.reports <- now
			}
		})
	}()
	return c, nil
}

// Up is closed when the guard waits for its order, or has died. Starting a process takes long on a busy host.
func (c *Command) Up() <-chan struct{} { return c.up }

// duplicate returns a file of a connection, which does not change how the connection itself is read.
func duplicate(conn syscall.Conn) (*os.File, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var dupErr error
	if err := raw.Control(func(of uintptr) { fd, dupErr = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	return os.NewFile(uintptr(fd), "agent"), nil
}

func (c *Command) tell(what *instruction) { _ = json.NewEncoder(c.lifeline.w).Encode(what) }

// Abandon ends the guard of a command that will not run.
func (c *Command) Abandon() {
	_ = c.guard.Process.Kill()
	for range c.reports {
	}
	c.close()
}

func (c *Command) close() {
	_, _ = c.lifeline.w.Close(), c.report.r.Close()
	_ = c.guard.Wait()
}

// Run runs the command, and passes signals on to it. It returns when nothing of the command is left.
func (c *Command) Run(o Order, signals <-chan os.Signal) Result {
	started := time.Now()
	group := syscall.Getpgrp()
	limits := o.Grant.Limits
	if o.Timeout > 0 && (limits.Timeout == 0 || o.Timeout < limits.Timeout) {
		limits.Timeout = o.Timeout
	}
	if limits.Until == 0 || o.KillAfter < limits.Grace {
		limits.Grace = o.KillAfter
	}
	c.tell(&instruction{Order: &guardOrder{
		Path: o.Path, Argv: o.Argv, Limits: limits,
		Command: &commandOrder{Group: group, Apart: c.scripted, Env: o.Grant.Env, Heard: o.Heard},
	}})
	spec := Spec{Argv: o.Argv, Limits: limits, command: true}
	var last report
	for {
		select {
		case now, ok := <-c.reports:
			switch {
			case ok && now.Pid != 0 && last.Pid == 0:
				c.stepAside()
			case !ok:
				if last.GuardDied = !last.Over; last.GuardDied {
					session, _ := unix.Getsid(0)
					last.Undead = !operation{session: session, tree: os.Getpid(), shared: group}.kill()
				}
				c.close()
				return last.result(spec, time.Since(started))
			}
			last = now
		case s := <-signals:
			if sig := s.(syscall.Signal); c.apart || !fromTerminal(sig) {
				c.tell(&instruction{Signal: sig})
			}
		}
	}
}

// stepAside moves the caller out of the command's process group, into that of the guard. The leader of a session cannot
// move. Outside of the terminal's group, the caller must still be able to write to the terminal.
func (c *Command) stepAside() {
	signal.Ignore(syscall.SIGTTOU)
	group := c.guard.Process.Pid
	if c.scripted {
		group = 0
	}
	c.apart = syscall.Setpgid(0, group) == nil
}

func hasTerminal() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err == nil {
		_ = terminal.Close()
	}
	return err == nil
}

// fromTerminal reports whether a signal has probably come from the terminal, to all that are in its process group.
func fromTerminal(sig syscall.Signal) bool {
	if !slices.Contains([]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH}, sig) {
		return false
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = terminal.Close() }()
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == syscall.Getpgrp()
}
