package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/changed"
	"github.com/wanderd/wanderd/agent/safepath"
	"github.com/wanderd/wanderd/smallfile"
)

// maxFile bounds a file of known hosts, in bytes: some 40,000 lines.
const maxFile = 4 << 20

// File is a file of known hosts. It implements [membership.Trust]; its methods are safe for concurrent use, except
// Refresh, which only one goroutine may call.
type File struct {
	watched[list]
	proven proven
}

// Open reads a file of known hosts, and refuses one that other users of this host can replace.
func Open(path string) (*File, error) {
	f := &File{watched: watched[list]{what: "known hosts", file: changed.File{Path: path}, parse: parse}}
	_, err := f.Refresh()
	return f, err
}

// Check implements [membership.Trust].
func (f *File) Check(name string, key ed25519.PublicKey, certificate []byte) (until time.Time, err error) {
	return f.last.Load().check(name, key, certificate, time.Now(), &f.proven)
}

// watched is a file that is read again when it has changed.
type watched[T any] struct {
	// what names the file in errors.
	what  string
	file  changed.File
	parse func([]byte) (*T, error)
	// optional is true if a missing file is no error; then the content that was last read stays in force.
	optional bool
	// last is the content that was last read, was the digest of its text.
	last atomic.Pointer[T]
	was  [sha256.Size]byte
}

// Refresh reads the file again if it has changed since it was last read, and reports whether it has. After an error the
// content that was last read stays in force.
func (w *watched[T]) Refresh() (changed bool, err error) {
	text, changed, err := w.read()
	if err == nil && changed {
		var content *T
		if content, err = w.parse(text); err == nil {
			w.last.Store(content)
		}
	}
	switch {
	case w.optional && errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %s: %w", w.what, w.file.Path, err)
	}
	return changed, nil
}

// read returns the content of a regular file that only root and this user can replace, if the content has changed since
// the last call. After an error it reports no change, and reads the file at the next call, because the remedy may lie
// outside the file: the mode of a directory, or the number of files that this process has open.
func (w *watched[T]) read() (text []byte, changed bool, err error) {
	if !w.file.Look() {
		return nil, false, nil
	}
	defer func() {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.file.Forget()
		}
	}()
	f, _, err := smallfile.Open(w.file.Path, 0)
	if err != nil {
		return nil, false, cause(err)
	}
	defer func() { _ = f.Close() }()
	if err := safepath.Check(w.file.Path); err != nil {
		return nil, false, err
	}
	if text, err = smallfile.All(f, maxFile); err != nil {
		return nil, false, cause(err)
	}
	now := sha256.Sum256(text)
	before := w.was
	w.was = now
	return text, now != before, nil
}

// cause returns an error of the file system without the path, which the message already has.
func cause(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
