package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxPath is the length of the longest path of a unix socket, in bytes, without the final zero that the kernel wants.
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// CheckPath returns an error with the remedy if a control socket cannot have this path.
func CheckPath(path string) error {
	switch {
	case path == "":
		return errors.New("the control socket has no path: name one with --socket")
	case strings.HasPrefix(path, "@"):
		return fmt.Errorf("the control socket %s would be no file, so any user could connect to it: "+
			"name another path with --socket", path)
	case len(path) > maxPath:
		return fmt.Errorf("the path of the control socket has %d bytes, but the system allows %d: "+
			"name a shorter one with --socket, such as /run/wanderd/wanderd.sock (%s)", len(path), maxPath, path)
	}
	return nil
}

// socket is a listening unix socket and the file that leads to it.
type socket struct {
	*net.UnixListener
	path string
	file os.FileInfo
	// group is the group that may connect, too; it is below zero if there is none.
	group int
}

// LookupGroup returns the number of a group, given by its name or number.
func LookupGroup(name string) (int, error) {
	g, err := user.LookupGroup(name)
	if err != nil {
		if g, err = user.LookupGroupId(name); err != nil {
			return 0, fmt.Errorf("there is no group %q on this host: make it with \"groupadd --system %[1]s\", or "+
				"name another one with --socket-group", name)
		}
	}
	return strconv.Atoi(g.Gid)
}

// open lets a group connect. Its members must be able to reach the file.
func (s *socket) open(name string) (err error) {
	if s.group, err = LookupGroup(name); err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o011 == 0 {
		return fmt.Errorf("the group %s cannot reach the control socket in %s, which only its owner may enter: "+
			"name another path with --socket, such as /run/wanderd/wanderd.sock", name, dir)
	}
	if err := os.Lchown(s.path, -1, s.group); err != nil {
		return fmt.Errorf("the control socket cannot be given to the group %s, of which user %d is no member: "+
			"add it with \"usermod -aG\", or in a service with SupplementaryGroups=%[1]s: %[3]w", name, os.Geteuid(),
			err)
	}
	return os.Chmod(s.path, 0o660)
}

// listen makes the socket at path. At first only this user can connect to it, and at the end also the group, if there
// is one. It replaces the socket of a dead agent. A socket that answers, and any other kind of file, is an error.
func listen(path, group string) (_ *socket, err error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	defer unlock()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// Linux gives the file the mode that the socket has before bind, less the umask. So there is no moment between bind
	// and chmod in which others can connect, and the umask of the process, which all goroutines share, does not change.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.Fchmod(int(fd), 0o600) })
	}}
	l, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, describe(path, err)
	}
	s := &socket{UnixListener: l.(*net.UnixListener), path: path, group: -1}
	s.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil { // on other systems than Linux
		_ = s.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if s.file, err = os.Lstat(path); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if group != "" {
		if err := s.open(group); err != nil {
			_, _ = s.Close(), os.Remove(path)
			return nil, err
		}
	}
	return s, nil
}

// remove removes the file, unless another agent has replaced it.
func (s *socket) remove() error {
	unlock, err := lockDir(filepath.Dir(s.path))
	if err != nil {
		return fmt.Errorf("control socket %s: %w", s.path, err)
	}
	defer unlock()
	now, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.file) {
		return nil
	}
	if err == nil {
		err = os.Remove(s.path)
	}
	return err
}

// removeStale removes a socket on which nobody listens.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return describe(path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket: remove it, or name another path with --socket", path)
	}
	conn, err := net.DialTimeout("unix", path, probeTimeout)
	if err == nil {
		_ = conn.Close()
	}
	switch {
	case err == nil, errors.Is(err, syscall.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
		// an agent listens there, even if it is too busy to answer
		return fmt.Errorf("the control socket %s is in use by another agent: stop it, or give this one its own "+
			"--state-dir or --socket", path)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return describe(path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("the control socket of a dead agent: %w", err)
	}
	return nil
}

// probeTimeout bounds the test whether an agent listens.
const probeTimeout = 2 * time.Second

func describe(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory of the control socket %s does not exist: create it, "+
			"or name another path with --socket", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("user %d may not create the control socket %s: change the owner of its directory, "+
			"or name another path with --socket", os.Geteuid(), path)
	}
	return fmt.Errorf("control socket %s: %w", path, err)
}

const (
	lockPatience = 5 * time.Second
	lockPause    = 10 * time.Millisecond
)

// lockDir prevents two agents that start at the same time from removing each other's socket as stale. The lock leaves
// no file behind, and the kernel releases it when the process dies.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its directory does not exist: create it, or name another path with --socket")
	case err != nil:
		return nil, err
	}
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = d.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(deadline) {
			_ = d.Close()
			return nil, fmt.Errorf("locking its directory: %w", err)
		}
	}
}
