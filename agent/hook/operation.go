package hook

import (
	"syscall"
	"time"
)

// operation is the set of processes that have to end. Those of a hook live in the session of the guard, which has no
// terminal: a Ctrl-C meant for the agent does not reach them, and nothing can hang there asking for a password. Those
// of a caller's command live in the caller's session, which they share with others; they are what the guard has
// started, directly or not.
type operation struct {
	// session is where they live; of a hook, it is the guard's process number.
	session int
	// tree is the process that all of them descend from, zero if they are all of the session. It is this one, and the
	// parent of their orphans.
	tree int
	// shared is a process group that others are in, too.
	shared int
	// group is the process group, and the process number, of the first process; zero if it is not known.
	group int
	// cgroup is its control group, if it has one.
	cgroup cgroup
}

// kill ends the operation without the help of its guard, and reports whether nothing of it is left.
func (op operation) kill() bool {
	for deadline := time.Now().Add(undeadTime); time.Now().Before(deadline); time.Sleep(lookTime) {
		if !op.alive(true) {
			op.cgroup.remove()
			return true
		}
		op.killAll()
	}
	return false
}

// tellToEnd asks what is there to end.
func (op operation) tellToEnd() {
	op.signal(syscall.SIGTERM, false)
	op.signal(syscall.SIGCONT, false) // a process that is stopped (SIGSTOP) cannot obey
}

// killAll kills what is left, also what has left the session.
func (op operation) killAll() {
	op.signal(syscall.SIGKILL, true)
	op.cgroup.kill()
}

// alive reports whether the operation has a process that is not a zombie, with what has left the session or without. It
// looks twice, for a parent may have ended and left a child where the first look had passed already.
func (op operation) alive(all bool) bool {
	for range 2 {
		if op.seen(all) {
			return true
		}
	}
	return all && op.cgroup.populated()
}
