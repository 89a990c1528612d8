// Package safepath tells whether other users of this host can replace a file. Like ssh, the agent trusts no program and
// no secret that other users can replace.
//
// Its decisions, in docs/decisions: 080.
package safepath

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links on a path, as the kernel does (path_resolution(7)).
const maxLinks = 40

// Check returns an error if a user other than root and the one of this process can change the file, or can put another
// in its place. It looks at the file, at every directory on the way, and at the owners of symbolic links. In a
// directory with the sticky bit only the owner of a file can replace it, so such a directory may be writable. The error
// names the path and the remedy.
func Check(path string) error { return check(path, os.Geteuid()) }

func check(path string, self int) error {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("cannot find the directory of %s: %w; write an absolute path", path, err)
		}
		path = here + "/" + path // not cleaned: the parent of a linked directory is not the parent of the link
	}
	at, links := "/", 0
	for rest := append([]string{"."}, strings.Split(path, "/")...); len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return err
		}
		if err := judge(next, info, self); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if links++; links > maxLinks {
			return &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return nil
}

// judge looks at one file, directory or link. The mode of a link means nothing.
func judge(path string, info fs.FileInfo, self int) error {
	if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != self && owner != 0 {
		return fmt.Errorf("%s belongs to user %d, and this is user %d: chown %[3]d %[1]s", path, owner, self)
	}
	mode := info.Mode()
	sticky := mode.IsDir() && mode&fs.ModeSticky != 0
	if mode.Perm()&0o022 != 0 && mode&fs.ModeSymlink == 0 && !sticky {
		return fmt.Errorf("other users can write to %s (mode %04o): chmod go-w %s", path, mode.Perm(), path)
	}
	return nil
}
