package statedir

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Mend checks that the path still leads to the opened directory and that the directory contains the agent's key. If
// not, it restores the directory, the lock, the key and its home; the agent itself writes the records again. lost
// reports whether something was missing; err is why it is still missing. It is safe to call Mend beside other methods.
func (d *Dir) Mend(key ed25519.PrivateKey) (lost bool, err error) {
	if !d.inPlace() {
		lost = true
		again, err := Open(d.path)
		if err != nil {
			return true, fmt.Errorf("the state directory was deleted or replaced: %w", err)
		}
		d.mu.Lock()
		if !d.closed {
			d.self, again.self = again.self, d.self
			d.lock, again.lock = again.lock, d.lock
		}
		d.mu.Unlock()
		_ = again.Close()
	}
	path := filepath.Join(d.path, nodeKeyName)
	text, err := readPrivate(path, false)
	if err == nil {
		there, err := parseNodeKey(text)
		if err != nil || !there.Equal(key) {
			return true, fmt.Errorf("the node key %s was replaced while the agent ran: restart the agent to use the "+
				"new key, or remove the file to keep "+
				"the old key", path)
		}
		return lost, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return true, fmt.Errorf("node key: %w", err)
	}
	pem, err := marshalNodeKey(key)
	if err != nil {
		return true, err
	}
	if err := createPrivate(path, pem); err != nil {
		return true, d.explain("cannot write the node key again", err)
	}
	here, err := d.here(machineIDs())
	if err != nil {
		return true, err
	}
	return true, d.makeHome(here)
}

// inPlace reports whether the path still leads to this agent's directory and lock, or d is closed.
func (d *Dir) inPlace() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return true
	}
	same := func(f *os.File, path string) bool {
		mine, err := f.Stat()
		now, nowErr := os.Stat(path)
		return err == nil && nowErr == nil && os.SameFile(mine, now)
	}
	return same(d.self, d.path) && same(d.lock, filepath.Join(d.path, lockName))
}
