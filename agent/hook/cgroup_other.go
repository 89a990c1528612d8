//go:build unix && !linux

package hook

import "syscall"

// cgroup is empty on systems other than Linux.
type cgroup struct{}

func newCgroup() cgroup          { return cgroup{} }
func guardsCgroup(int) cgroup    { return cgroup{} }
func (c cgroup) kill()           {}
func (c cgroup) populated() bool { return false }
func (c cgroup) remove()         {}

func (c cgroup) start(fork func(*syscall.SysProcAttr) (int, error)) (pid int, outside bool, err error) {
	pid, err = fork(operationAttr(0))
	return pid, true, err
}
