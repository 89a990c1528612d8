//go:build linux

package hosts

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Process is one that runs on a host.
type Process struct {
	PID int
	// Args are its arguments; the first is its program.
	Args []string
}

// Signal sends a signal.
func (p Process) Signal(sig syscall.Signal) { _ = syscall.Kill(p.PID, sig) }

// Is reports whether one of the arguments is this.
func (p Process) Is(arg string) bool { return slices.Contains(p.Args, arg) }

// Processes are all of the host that have not ended: each has inherited the host's mark.
func (h *Host) Processes() (all []Process) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	mark := []byte(h.mark)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !has(environ, mark) {
			continue
		}
		p := Process{PID: pid}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		for arg := range bytes.SplitSeq(bytes.TrimSuffix(args, []byte{0}), []byte{0}) {
			p.Args = append(p.Args, string(arg))
		}
		all = append(all, p)
	}
	return all
}

// has reports whether an environment has an entry. That of a zombie is empty.
func has(environ, entry []byte) bool {
	for e := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(e, entry) {
			return true
		}
	}
	return false
}
