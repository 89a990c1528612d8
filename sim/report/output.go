package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Output is a file that is written completely or not at all: the bytes go into a file next to it, which replaces it at
// the end. Create it before long work, to find out at once whether it can be written.
type Output struct {
	path string
	// beside is the temporary file. If path is not a regular file, it is path itself.
	beside string
	file   *os.File
}

// Create begins a file. The error names the file and tells what to do about it.
func Create(path string) (*Output, error) {
	target, beside, err := place(path)
	if err != nil {
		return nil, err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if beside == target {
		flags = os.O_WRONLY
	} else if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unwritable(path, err)
	}
	file, err := os.OpenFile(beside, flags, 0o666)
	if err != nil {
		return nil, unwritable(path, err)
	}
	return &Output{path: target, beside: beside, file: file}, nil
}

// place returns the file that path stands for, and the file to write to meanwhile.
func place(path string) (target, beside string, err error) {
	if path == "" {
		return "", "", errors.New("no file is named: name one")
	}
	target = path
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		target = linked
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return "", "", fmt.Errorf("%s is a folder: name a file in it, as %s", path, filepath.Join(path, "out"))
	case err == nil && !info.Mode().IsRegular():
		// A pipe or a terminal: it must not be replaced.
		return target, target, nil
	case err == nil && info.Mode().Perm()&0o222 == 0:
		return "", "", unwritable(path, fs.ErrPermission)
	}
	folder, name := filepath.Split(target)
	return target, folder + "." + name + "." + strconv.Itoa(os.Getpid()) + ".part", nil
}

// unwritable explains why a file cannot be written, and what to do.
func unwritable(path string, err error) error {
	folder := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(
			"%s cannot be written: there is no folder %s; make it first (mkdir -p %s), or name another file",
			path, folder, folder)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(
			"%s cannot be written: you may not write it or its folder; change their permissions, or name another file",
			path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot be written: %s is not a folder; name another file", path, folder)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s cannot be written: the disk is full; make room, or name a file on another one", path)
	}
	return fmt.Errorf("%s cannot be written; name another file: %w", path, err)
}

// Write writes.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		return n, unwritable(o.path, err)
	}
	return n, nil
}

// Commit completes the file and puts it in place. After an error, an earlier file of that name is unchanged.
func (o *Output) Commit() error {
	err := o.file.Close()
	if err == nil && o.beside != o.path {
		err = os.Rename(o.beside, o.path)
	}
	if err != nil {
		o.Discard()
		return unwritable(o.path, err)
	}
	o.beside = o.path
	return nil
}

// Discard removes the temporary file, unless it was committed. An earlier file of that name is unchanged.
func (o *Output) Discard() {
	// It was closed already, or is gone already: there is nothing left to do.
	_ = o.file.Close()
	if o.beside != o.path {
		_ = os.Remove(o.beside)
	}
}
