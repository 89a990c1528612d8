// Package statedir is the agent's state on disk: its node key, the members of its fleet, and a record for each gate. It
// also reads and makes the files of keys and secrets.
//
// A state directory belongs to one agent at a time, and no other user may write in it:
//
//	lock                locked for as long as the agent lives; contains its process number
//	node_key            the member's Ed25519 key, in OpenSSH's format
//	node_key-cert.pub   its certificate, if a certificate authority has signed it
//	home                where the directory was made: host and path
//	gate-NAME.json      the record of a gate
//	roster-NAME.json    which keys answer to the names of a strict gate's roster
//	history-NAME.jsonl  the last runs of a gate, of package history
//	members.json        the members of the fleet
//	events-NAME.json    the events that a receiver has still to get
//	*.tmp               an unfinished file after a crash; removed at the next start
//
// Its decisions, in docs/decisions: 010, 062.
package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	lockName  = "lock"
	tmpSuffix = ".tmp"
)

// Dir is an open state directory. Only one goroutine may use its methods, except Save, which one goroutine for each
// gate may use, and LoadEvents and SaveEvents, which one for each receiver may use.
type Dir struct {
	path string
	// self is the directory itself, because its entries must be synced too. mu guards self, lock and closed.
	mu   sync.RWMutex
	self *os.File
	lock *os.File
	// closed is true after Close: the directory must not be opened again.
	closed bool
}

// Open makes the directory and its parents if they are missing, and locks it until Close or the end of the process.
// Errors name the directory and the remedy.
func Open(dir string) (_ *Dir, err error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", dir, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the state directory %s: %w; make it yourself, or choose another one with "+
			"--state-dir",
			path, err)
	}
	d := &Dir{path: path}
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	if d.self, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("cannot open the state directory: %w; correct its owner or mode, or choose another one "+
			"with --state-dir", err)
	}
	if err := d.checkOwner(); err != nil {
		return nil, err
	}
	if err := d.takeLock(); err != nil {
		return nil, err
	}
	if err := d.clean(); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadOnly returns a directory that is only read, while an agent may run in it. The directory need not exist.
func ReadOnly(dir string) *Dir { return &Dir{path: dir} }

// Path returns the directory's absolute path.
func (d *Dir) Path() string { return d.path }

// Close unlocks the directory.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return errors.Join(d.lock.Close(), d.self.Close())
}

// checkOwner refuses a directory in which another user could replace the key.
func (d *Dir) checkOwner() error {
	info, err := d.self.Stat()
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("other users can write in the state directory %s (mode %04o): chmod go-w %s", d.path, mode,
			d.path)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch me := os.Geteuid(); {
	case owner == me, owner == 0:
	case me == 0:
		return fmt.Errorf("the state directory %s belongs to user %d, and this is root: run this as that user, or "+
			"choose another directory "+
			"with --state-dir", d.path, owner)
	default:
		return fmt.Errorf(
			"the state directory %s belongs to user %d, and this is user %d: chown it, or choose another one "+
				"with --state-dir", d.path, owner, me)
	}
	return nil
}

// takeLock makes this the only agent in the directory. The kernel releases the lock when the process ends.
func (d *Dir) takeLock() error {
	path := filepath.Join(d.path, lockName)
	var err error
	// A link would let its maker choose which file this process overwrites.
	if d.lock, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600); err != nil {
		if errors.Is(err, syscall.ELOOP) {
			return fmt.Errorf("%s is a symbolic link: remove it", path)
		}
		return d.explain("cannot lock the state directory", err)
	}
	switch err := unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf(
			"the state directory %s is in use by another wanderd%s: stop that one, or give this one another "+
				"directory with --state-dir", d.path, d.lockHolder())
	case err != nil:
		return fmt.Errorf("cannot lock %s: %w; choose a directory on a local disk with --state-dir", path, err)
	}
	// The number is only for the message above, so a full disk is no reason to fail here.
	if d.lock.Truncate(0) == nil {
		_, _ = d.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return nil
}

// lockHolder names the process that holds the lock, if its number is in the file.
func (d *Dir) lockHolder() string {
	text, err := io.ReadAll(io.LimitReader(d.lock, 32))
	pid, numErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || numErr != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (d *Dir) clean() error {
	entries, err := d.self.ReadDir(-1)
	if err != nil {
		return d.explain("cannot list the state directory", err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), tmpSuffix) {
			continue
		}
		if err := os.Remove(filepath.Join(d.path, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return d.explain("cannot remove an unfinished file", err)
		}
	}
	return nil
}

// explain adds the remedy to an error of the file system.
func (d *Dir) explain(what string, err error) error {
	remedy := "check the disk and the owner of " + d.path
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = "free some space on the file system of " + d.path
	case errors.Is(err, syscall.EROFS):
		remedy = "mount the file system of " + d.path + " for writing, or choose another directory with --state-dir"
	case errors.Is(err, fs.ErrPermission):
		remedy = "correct the owner or the mode of " + d.path
	}
	return fmt.Errorf("%s: %w; %s", what, err, remedy)
}
