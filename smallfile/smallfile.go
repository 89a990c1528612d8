// Package smallfile reads a file that an operator or this program has written, even if something else has replaced it:
// no pipe makes the reader wait, and no file fills its memory.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrWrongKind is returned if a path does not lead to a regular file, ErrTooLong if a file is longer than its reader
// allows.
var (
	ErrWrongKind = errors.New("not a regular file")
	ErrTooLong   = errors.New("the file is too long")
)

// Open opens a regular file for reading. flags are added to those of open(2). All errors are an [fs.PathError].
func Open(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is %w (%s)", ErrWrongKind, kindOf(info.Mode()))}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Read returns the content of a regular file of at most most bytes. All errors are an [fs.PathError].
func Read(path string, most int) ([]byte, error) {
	f, _, err := Open(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return All(f, most)
}

// All reads a file to its end, which must come after at most most bytes.
func All(f *os.File, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("%w: more than %d bytes", ErrTooLong, most)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
