package hook

import (
	"math"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wanderd/wanderd/agent/hook/early"
)

// guardPath returns a path of the program that guards. It may wait for a file system.
func guardPath() (string, error) { return early.Program() }

// operationAttr puts the operation into a process group in the guard's session: one of its own if group is 0. The
// session includes what "timeout 60 rsync …" or a shell's "set -m" puts into further groups. If the guard is killed,
// the first process dies with it.
func operationAttr(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGKILL}
}

// adopt makes this process the parent of every orphan of the operation, so that it learns of their ends and none stays
// a zombie in a container without an init. It also keeps the files that the agent has inherited from reaching the
// operation, and names the process, which was executed as "exe".
func adopt() {
	_ = unix.CloseRange(reportFd+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	becomeSubreaper()
	// A guard is still in its initialisation, which is on the first thread: its name is that of the process.
	name := append([]byte(GuardName), 0)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
}

func becomeSubreaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// keepOutputOpen gives the operation's output a second reader, which never reads. Without it, once the agent was
// killed, an operation that cleans up would die of SIGPIPE at its first output, and a shell writes some whenever a
// child of it is killed. The pipes hold 64 KiB of output; an operation that writes more blocks until the grace ends.
func keepOutputOpen() {
	for _, output := range []string{"/proc/self/fd/1", "/proc/self/fd/2"} {
		_, _ = syscall.Open(output, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	}
}

// signal sends a signal to every process of the operation, one process group at a time: a group gets it as a whole,
// with nothing forked in between. If all is true and the operation is a tree, it also reaches processes that have left
// the session.
func (op operation) signal(sig syscall.Signal, all bool) {
	if op.tree != 0 {
		op.signalTree(sig, all)
		return
	}
	for _, group := range op.groups() {
		_ = syscall.Kill(-group, sig)
	}
}

// seen reports whether there is a process of the operation that is not a zombie.
func (op operation) seen(all bool) bool {
	if op.tree != 0 {
		return len(op.descendants(all)) > 0
	}
	return len(op.groups()) > 0
}

// groups returns the process groups of the session, except the guard's own, that have a process that is not a zombie.
func (op operation) groups() []int {
	pids, err := processNumbers()
	if err != nil { // then only the first process is known
		if op.group == 0 || syscall.Kill(-op.group, 0) != nil {
			return nil
		}
		return []int{op.group}
	}
	var groups []int
	for _, pid := range pids {
		if session, err := unix.Getsid(pid); err != nil || session != op.session {
			continue // no need to read the rest
		}
		if p, there := processOf(pid); there && !p.ended && p.group != op.session && !slices.Contains(groups, p.group) {
			groups = append(groups, p.group)
		}
	}
	return groups
}

// executed reports whether a child that has not been waited for has become the operation's program.
func executed(pid int) bool {
	const forkNoExec = 0x40 // PF_FORKNOEXEC: forked, and nothing executed since
	p, there := processOf(pid)
	return there && p.flags&forkNoExec == 0
}
