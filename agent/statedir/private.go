package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wanderd/wanderd/smallfile"
)

// maxPrivate bounds a file with a key or a secret, in bytes.
const maxPrivate = 64 << 10

// readPrivate reads a file. Unless shared is true, it refuses a file that other users can read or change. It does not
// wait for the writer of a pipe.
func readPrivate(path string, shared bool) ([]byte, error) {
	f, info, err := smallfile.Open(path, 0)
	if errors.Is(err, smallfile.ErrWrongKind) {
		return nil, fmt.Errorf("%w: name another file", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !shared {
		return nil, fmt.Errorf("other users can read or change %s (mode %04o): chmod 600 %s", path, mode, path)
	}
	text, err := smallfile.All(f, maxPrivate)
	if errors.Is(err, smallfile.ErrTooLong) {
		return nil, fmt.Errorf("%s is too long for a key or a secret: name another file", path)
	}
	return text, err
}

// createPrivate writes a file that must not exist yet and that only its owner may read. It makes the missing
// directories of the path, and lets other users enter them.
func createPrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch err := writeSynced(path, os.O_EXCL, content); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists and was not changed: choose another path, or remove the file if nobody uses it",
			path)
	case err != nil:
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// writeSynced creates a file that only its owner may read, and syncs its content to the disk. After an error it removes
// the file.
func writeSynced(path string, flag int, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}
