package hook

import (
	"syscall"
	"time"
)

// operation is the set of processes that have to end. The processes of a hook live in the guard's session, which has no
// terminal: a Ctrl-C meant for the agent does not reach them, and none can hang there asking for a password. The
// processes of a caller's command live in the caller's session, which they share with others; the operation is what the
// guard has started, directly or not.
type operation struct {
	// session is the session of the processes; for a hook, it is the guard's process number.
	session int
	// tree is the process from which all of them descend: this process, which is also the parent of their orphans. It
	// is zero if they are all processes of the session.
	tree int
	// shared is a process group that has other processes, too.
	shared int
	// group is the process group, and the process number, of the first process; zero if unknown.
	group int
	// cgroup is the operation's control group, if it has one.
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

// tellToEnd tells all processes to end.
func (op operation) tellToEnd() {
	op.signal(syscall.SIGTERM, false)
	op.signal(syscall.SIGCONT, false) // a process that is stopped (SIGSTOP) cannot obey
}

// killAll kills what is left, including processes that have left the session.
func (op operation) killAll() {
	op.signal(syscall.SIGKILL, true)
	op.cgroup.kill()
}

// alive reports whether the operation has a process that is not a zombie; if all is true, processes that have left the
// session count, too. It looks twice, because a parent may have ended and left a child at a place that the first look
// had already passed.
func (op operation) alive(all bool) bool {
	for range 2 {
		if op.seen(all) {
			return true
		}
	}
	return all && op.cgroup.populated()
}
