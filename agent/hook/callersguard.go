package hook

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// command is what the guard of a caller's command knows beside. Such a guard has a process group of its own in the
// caller's session, where neither Ctrl-C nor Ctrl-Z reaches it. The zero value is that of a hook.
type command struct {
	// caller brings the signals that the caller passes on, and is closed when the caller has died.
	caller chan instruction
	// pid is the caller's process number, stopped says that it was stopped because its command was.
	pid     int
	stopped bool
	// early are the signals that came before the command was there.
	early []syscall.Signal
}

// When a process ends whose parent is in another group of its session, the kernel sees whether somebody else connects
// its group with the session. If not, and a process of the group is stopped, all of the group get SIGHUP (setpgid(2)).
// A script without a terminal, and its group, are connected with nothing. So the end of a command must not look as if
// the command had been the last connection: its guard is in its group when the command is born, and then in a session
// of its own.

// joinGroup brings the guard into the caller's group. No signal to that ends the guard.
func joinGroup(group int) {
	signal.Notify(make(chan os.Signal, 1))
	_ = syscall.Setpgid(0, group)
}

// leaveSession brings the guard into a session of its own.
func leaveSession() {
	if _, err := syscall.Setsid(); err != nil {
		_ = syscall.Setpgid(0, 0)
	}
}

// beginCommand tells the agent that the command is ready, and waits for its first instruction, which lets it run. An
// agent that has waited for too long has given the grant back, and closes the connection.
func (g *guard) beginCommand() (first instruction, begins bool) {
	agent := os.NewFile(connectionFd, "agent")
	g.command = command{caller: g.instructions, pid: os.Getppid()}
	// who tells all of a service to end tells the caller, and the command
	g.instructions, g.told = make(chan instruction), nil
	g.reporters = []io.Writer{agent, g.reporters[0]}
	session, _ := unix.Getsid(0)
	g.operation = operation{session: session, tree: os.Getpid(), shared: g.order.Command.Group}
	go readLifeline(io.MultiReader(bytes.NewReader(g.order.Command.Heard), agent), g.instructions)
	_ = (&report{Ready: true}).write(agent)
	for {
		select {
		case next, ok := <-g.instructions:
			switch {
			case !ok || next.Stop:
				g.report.Orphaned = !ok
				return next, false
			case next.Go:
				return next, true
			}
		case next, ok := <-g.command.caller:
			if !ok {
				return next, false
			}
			g.onSignal(next.Signal)
		}
	}
}

// onSignal passes a signal on to the command, as if it had been sent there.
func (g *guard) onSignal(sig syscall.Signal) {
	if g.report.Pid == 0 {
		g.command.early = append(g.command.early, sig)
		return
	}
	if !g.report.Reaped {
		_ = syscall.Kill(g.report.Pid, sig)
	}
}

// alsoStops are the options of wait4(2) for a command: it may be stopped, and go on.
func (c *command) alsoStops() int {
	if c.caller == nil {
		return 0
	}
	return syscall.WUNTRACED | syscall.WCONTINUED
}

// mirror stops the caller with its command, and lets both go on together. A shell waits for the caller: when Ctrl-Z has
// stopped the command, it has to see that the job stands still; its fg and bg reach the command alone.
func (c *command) mirror(status syscall.WaitStatus) {
	if status.Continued() {
		c.wakeCaller()
		return
	}
	if c.caller != nil && os.Getppid() == c.pid {
		c.wakeCaller() // the command went on in between, unseen, and the shell waits to see it stopped again
		c.stopped = true
		_ = syscall.Kill(c.pid, syscall.SIGSTOP)
	}
}

// wakeCaller lets a caller go on that was stopped with its command.
func (c *command) wakeCaller() {
	if c.stopped && os.Getppid() == c.pid {
		_ = syscall.Kill(c.pid, syscall.SIGCONT)
	}
	c.stopped = false
}
