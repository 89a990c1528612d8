package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroup is a control group (cgroups(7), version 2) of the operation's own, below that of its guard. It contains
// everything that the operation starts, even processes that leave the session. The zero value means that this process
// may not make one here.
type cgroup struct{ path string }

// cgroupPrefix begins the name of every such group; the number of its guard follows.
const cgroupPrefix = "wanderd-hook-"

// newCgroup makes a control group for the operation of this process. It first removes those of dead guards: an
// operation dies with its guard.
func newCgroup() cgroup {
	parent, ok := ownCgroup()
	if !ok {
		return cgroup{}
	}
	sweep(parent)
	c := cgroupOf(parent, os.Getpid())
	if os.Mkdir(c.path, 0o755) != nil {
		return cgroup{}
	}
	return c
}

// guardsCgroup returns the control group that the guard with that process number has made, if it has.
func guardsCgroup(guard int) cgroup {
	if parent, ok := ownCgroup(); ok {
		if c := cgroupOf(parent, guard); c.isThere() {
			return c
		}
	}
	return cgroup{}
}

func cgroupOf(parent string, guard int) cgroup {
	return cgroup{filepath.Join(parent, cgroupPrefix+strconv.Itoa(guard))}
}

// ownCgroup returns the directory of the control group of this process.
func ownCgroup() (dir string, ok bool) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		path, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !found || strings.Contains(path, "..") { // outside of what this namespace shows
			continue
		}
		for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			var fs unix.Statfs_t
			if unix.Statfs(root, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC {
				return filepath.Join(root, path), true
			}
		}
	}
	return "", false
}

// sweep ends what the operations of dead guards have left behind.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), cgroupPrefix)
		if guard, err := strconv.Atoi(number); ours && err == nil && errors.Is(syscall.Kill(guard, 0), syscall.ESRCH) {
			c := cgroupOf(parent, guard)
			c.kill()
			c.remove()
		}
	}
}

func (c cgroup) isThere() bool {
	_, err := os.Stat(c.path)
	return c.path != "" && err == nil
}

// start lets fork start a process that is born in the group. The returned bool reports whether this process is outside
// of the group afterwards. Where seccomp(2) forbids clone3(2), as in a service with RestrictNamespaces=, this process
// has to enter the group and come back, which takes the kernel some milliseconds.
func (c cgroup) start(fork func(*syscall.SysProcAttr) (pid int, err error)) (pid int, outside bool, err error) {
	attr := operationAttr(0)
	if c.path == "" {
		pid, err = fork(attr)
		return pid, true, err
	}
	if group, err := os.Open(c.path); err == nil {
		defer func() { _ = group.Close() }()
		attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
		if pid, err = fork(attr); err == nil {
			return pid, true, nil
		}
	}
	_ = move("0", c.path)
	pid, err = fork(operationAttr(0))
	return pid, move("0", filepath.Dir(c.path)) == nil, err
}

// move moves a process into a group; 0 is this process.
func move(pid, group string) error {
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0)
}

// kill kills everything in the group. Kernels before 5.14 have no single command for that.
func (c cgroup) kill() {
	if c.path == "" || os.WriteFile(filepath.Join(c.path, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	for _, pid := range c.procs() {
		if number, err := strconv.Atoi(pid); err == nil && number > 0 {
			_ = syscall.Kill(number, syscall.SIGKILL)
		}
	}
}

func (c cgroup) populated() bool {
	if c.path == "" {
		return false
	}
	events, err := os.ReadFile(filepath.Join(c.path, "cgroup.events"))
	return err == nil && strings.Contains(string(events), "populated 1")
}

func (c cgroup) procs() []string {
	text, err := os.ReadFile(filepath.Join(c.path, "cgroup.procs"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// remove removes the group. A daemon that the operation has left behind moves to the guard's group and lives on.
func (c cgroup) remove() {
	if c.path == "" {
		return
	}
	for range 3 { // a process may fork while it is moved
		if os.Remove(c.path) == nil {
			return
		}
		for _, pid := range c.procs() {
			_ = move(pid, filepath.Dir(c.path))
		}
	}
}
