package hook

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wanderd/wanderd/agent/hook/early"
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
	guard   *early.Guard
	reports chan report
	// up is closed when the guard waits for its task, or has died.
	up chan struct{}
	// apart is true if the caller is not in the command's process group.
	apart bool
}

// Task is what the caller tells a command's guard to do.
type Task struct {
	// Path is the program, Argv its arguments, beginning with the name of the program.
	Path string
	Argv []string
	// Timeout is how long the command may run; zero sets no limit. KillAfter is the time from SIGTERM to SIGKILL.
	Timeout, KillAfter time.Duration
	Grant              Grant
	// Heard is what has been read from the agent after the grant.
	Heard []byte
}

// Prepare starts the guard of a command, unless it has been started with this program.
func Prepare() (*Command, error) {
	guard, err := early.Start()
	if err != nil {
		return nil, err
	}
	becomeSubreaper() // of what the guard leaves behind if it is killed
	c := &Command{guard: guard, reports: make(chan report), up: make(chan struct{})}
	go func() {
		defer close(c.reports)
		up := sync.OnceFunc(func() { close(c.up) })
		defer up()
		readReport(guard.Report, func(now report) {
			if up(); now != (report{Up: true}) {
				c.reports <- now
			}
		})
	}()
	return c, nil
}

// Up is closed when the guard waits for its task, or has died. Starting a process takes long on a busy host.
func (c *Command) Up() <-chan struct{} { return c.up }

// Socket returns a unix socket, which has to be connected to the agent before Run: the guard hears of the agent by it.
func (c *Command) Socket() *os.File { return c.guard.Socket }

func (c *Command) tell(what *instruction) { _ = json.NewEncoder(c.guard.Lifeline).Encode(what) }

// Abandon ends the guard of a command that will not run.
func (c *Command) Abandon() {
	_ = syscall.Kill(c.guard.PID, syscall.SIGKILL)
	for range c.reports {
	}
	c.close()
}

func (c *Command) close() {
	_, _, _ = c.guard.Lifeline.Close(), c.guard.Report.Close(), c.guard.Socket.Close()
	for {
		if _, err := syscall.Wait4(c.guard.PID, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// Run runs the command, and passes signals on to it. It returns when nothing of the command is left.
func (c *Command) Run(o Task, signals <-chan os.Signal) Result {
	started := time.Now()
	group := syscall.Getpgrp()
	limits := o.Grant.Limits
	if o.Timeout > 0 && (limits.Timeout == 0 || o.Timeout < limits.Timeout) {
		limits.Timeout = o.Timeout
	}
	if limits.Until == 0 || o.KillAfter < limits.Grace {
		limits.Grace = o.KillAfter
	}
	c.tell(&instruction{Task: &guardTask{
		Path: o.Path, Argv: o.Argv, Limits: limits,
		Command: &commandTask{Group: group, Env: o.Grant.Env, Heard: o.Heard},
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
	group := c.guard.PID
	if c.guard.Scripted {
		group = 0
	}
	c.apart = syscall.Setpgid(0, group) == nil
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
