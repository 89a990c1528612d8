package hook

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// command is what the guard of a caller's command knows in addition. Such a guard has a process group of its own in the
// caller's session, where neither Ctrl-C nor Ctrl-Z reaches it. For a hook, command has the zero value.
type command struct {
	// caller carries the signals that the caller passes on, and is closed when the caller has died.
	caller chan instruction
	// pid is the caller's process number. stopped is true while the caller is stopped because its command is.
	pid     int
	stopped bool
	// apart is true if the guard has to leave the caller's session; see leaveSession.
	apart bool
	// early are the signals that came before the command was there.
	early []syscall.Signal
}

// When a process ends whose parent is in another group of its session, the kernel checks whether another process still
// connects its group with the session. If none does, and a process of the group is stopped, the whole group gets SIGHUP
// (setpgid(2)). A script without a terminal, and its group, have no such connection. So the end of a command must not
// look as if the command had been the last connection: the guard is in the command's group when the command is born,
// and afterwards in a session of its own.

// await prepares for a command whose task comes later. While the guard is in the caller's group, no signal to that
// group may end or stop it. Besides those that the guard takes anyway, these would; the runtime ignores the others. To
// take all of them would last two milliseconds.
func (c *command) await(apart bool) {
	if c.apart = apart; apart {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTSTP, syscall.SIGTTIN,
			syscall.SIGTTOU)
	}
}

// joinGroup moves the guard into the caller's group.
func joinGroup(group int) { _ = syscall.Setpgid(0, group) }

// leaveSession moves the guard into a session of its own.
func leaveSession() {
	if _, err := syscall.Setsid(); err != nil {
		_ = syscall.Setpgid(0, 0)
	}
}

// beginCommand tells the agent that the command is ready, and waits for the agent's first instruction, which lets the
// command run. An agent that has waited for too long has given the grant back, and closes the connection.
func (g *guard) beginCommand() (first instruction, begins bool) {
	agent := os.NewFile(connectionFd, "agent")
	g.command.caller, g.command.pid = g.instructions, os.Getppid()
	// A signal that ends all processes of a service reaches the caller and the command, too.
	g.instructions, g.told = make(chan instruction), nil
	g.reporters = []io.Writer{agent, g.reporters[0]}
	session, _ := unix.Getsid(0)
	g.operation = operation{session: session, tree: os.Getpid(), shared: g.task.Command.Group}
	go readLifeline(io.MultiReader(bytes.NewReader(g.task.Command.Heard), agent), g.instructions)
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

// alsoStops returns the options of wait4(2) for a command, which report also that it was stopped or continued.
func (c *command) alsoStops() int {
	if c.caller == nil {
		return 0
	}
	return syscall.WUNTRACED | syscall.WCONTINUED
}

// mirror stops the caller with its command, and lets both continue together. A shell waits for the caller: when Ctrl-Z
// has stopped the command, the shell has to see that the job has stopped; its fg and bg reach only the command.
func (c *command) mirror(status syscall.WaitStatus) {
	if status.Continued() {
		c.wakeCaller()
		return
	}
	if c.caller != nil && os.Getppid() == c.pid {
		c.wakeCaller() // the command continued unseen in between, and the shell waits to see it stopped again
		c.stopped = true
		_ = syscall.Kill(c.pid, syscall.SIGSTOP)
	}
}

// wakeCaller continues a caller that was stopped with its command.
func (c *command) wakeCaller() {
	if c.stopped && os.Getppid() == c.pid {
		_ = syscall.Kill(c.pid, syscall.SIGCONT)
	}
	c.stopped = false
}
