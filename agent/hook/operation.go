package hook

import (
	"syscall"
	"time"
)

// operation is the set of processes that have to end. They live in the session of the guard, which has no terminal: a
// Ctrl-C meant for the agent does not reach them, and nothing can hang there asking for a password.
type operation struct {
	// session is the guard's process number.
	session int
	// group is the process group, and the process number, of the first process; zero if it is not known.
	group int
	// cgroup is its control group, if it has one.
	cgroup cgroup
}

// kill ends the operation without the help of its guard, and reports whether nothing of it is left.
func (op operation) kill() bool {
	for deadline := time.Now().Add(undeadTime); time.Now().Before(deadline); time.Sleep(lookTime) {
		if !op.alive() && !op.cgroup.populated() {
			op.cgroup.remove()
			return true
		}
		op.killAll()
	}
	return false
}

// tellToEnd asks what is there to end.
func (op operation) tellToEnd() {
	op.signal(syscall.SIGTERM)
	op.signal(syscall.SIGCONT) // a process that is stopped (SIGSTOP) cannot obey
}

// killAll kills what is left, also what has left the session.
func (op operation) killAll() {
	op.signal(syscall.SIGKILL)
	op.cgroup.kill()
}
