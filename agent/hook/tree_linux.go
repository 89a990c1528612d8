package hook

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A caller's command shares its session and its process group with others: its shell, the rest of its pipeline. So
// descent decides what belongs to it. The guard is the parent of its orphans (PR_SET_CHILD_SUBREAPER), so no process
// that it starts gets lost.

// process is what /proc/PID/stat reports of a process.
type process struct {
	pid, parent, group, session, flags int
	// ended is true if the process has ended and at most waits to be reaped.
	ended bool
}

// processNumbers returns the numbers of all processes.
func processNumbers() (pids []int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// processOf returns a process, unless it is gone.
func processOf(pid int) (p process, there bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// proc_pid_stat(5): "pid (comm) state parent group session tty tpgid flags …"; comm may contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 7 {
		return p, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	ended := bytes.Contains([]byte("ZXx"), fields[0])
	return process{
		pid: pid, parent: number(1), group: number(2), session: number(3), flags: number(6), ended: ended,
	}, true
}

// hasChildren reports whether this process has a child, be it a zombie. A subreaper that has none has no descendants.
func hasChildren() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != unix.ECHILD
}

// descendants returns the processes that the root of the tree, this process, has started, directly or not. Unless all
// is true, it returns only those in the session.
func (op operation) descendants(all bool) (found []process) {
	if !hasChildren() {
		return nil
	}
	children := make(map[int][]process)
	pids, _ := processNumbers()
	for _, pid := range pids {
		if p, there := processOf(pid); there && !p.ended {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for next := []int{op.tree}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			next = append(next, p.pid)
			if all || p.session == op.session {
				found = append(found, p)
			}
		}
	}
	return found
}

// killerOf returns a function that kills all processes that the caller has started, directly or not, but not the caller
// itself: the caller's guard and its command are among them. The caller goes on, to tell how its command has ended: a
// guard that has stopped it, and is killed, does not let it continue any more (see mirror). caller must be the number
// from the kernel, because a caller may claim any. The function kills nothing when the caller is gone, because another
// process may have its number then.
func killerOf(caller int) (kill, forget func(), ok bool) {
	if caller <= 1 {
		return nil, nil, false
	}
	fd, err := unix.PidfdOpen(caller, 0)
	if err != nil {
		return nil, nil, false
	}
	kill = func() {
		if unix.PidfdSendSignal(fd, 0, nil, 0) != nil {
			return
		}
		children := make(map[int][]int)
		pids, _ := processNumbers()
		for _, pid := range pids {
			if p, there := processOf(pid); there && !p.ended {
				children[p.parent] = append(children[p.parent], pid)
			}
		}
		for next := []int{caller}; len(next) > 0; next = next[1:] {
			for _, pid := range children[next[0]] {
				next = append(next, pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
	}
	return kill, func() { _ = unix.Close(fd) }, true
}

// signalTree signals whole process groups where no other process is in them, and single processes elsewhere.
func (op operation) signalTree(sig syscall.Signal, all bool) {
	var groups []int
	for _, p := range op.descendants(all) {
		switch {
		case p.group == op.shared || p.group == op.tree:
			_ = syscall.Kill(p.pid, sig)
		case !slices.Contains(groups, p.group):
			groups = append(groups, p.group)
			_ = syscall.Kill(-p.group, sig)
		}
	}
}
