// Package changed tells whether a file is to be read again, at the price of one system call.
package changed

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// File is a file that is looked at from time to time. It is for one goroutine.
type File struct {
	Path string
	last stamp
}

// stamp tells the contents of a file apart without reading it. Its zero value is no file's.
type stamp struct {
	looked   bool
	modified time.Time
	size     int64
	inode    uint64
	mode     fs.FileMode
	owner    uint32
}

// Forget lets the next Look report true: what is there could not be read.
func (f *File) Forget() { f.last = stamp{} }

// settled is how long ago a file must have changed. One that has changed a moment ago may change again within one tick
// of the kernel's clock, without a trace.
const settled = time.Second

// Look reports whether the content, the owner or the mode may be another one than at the last call, or the file has
// come or gone. The first call reports true.
func (f *File) Look() bool {
	now, before := stamp{looked: true}, f.last
	if info, err := os.Stat(f.Path); err == nil {
		s := info.Sys().(*syscall.Stat_t)
		now.modified, now.size, now.inode, now.mode, now.owner = info.ModTime(), info.Size(), s.Ino, info.Mode(), s.Uid
	}
	f.last = now
	if time.Since(now.modified).Abs() < settled {
		f.Forget()
	}
	return now != before
}
