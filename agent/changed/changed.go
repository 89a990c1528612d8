// Package changed tells whether a file has to be read again, at the price of one system call.
package changed

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// File is a file that is checked from time to time. Only one goroutine may use it.
type File struct {
	Path string
	last stamp
}

// stamp identifies the content of a file without reading it. No file has the zero value.
type stamp struct {
	looked   bool
	modified time.Time
	size     int64
	inode    uint64
	mode     fs.FileMode
	owner    uint32
}

// Forget makes the next Look report true, because the file could not be read.
func (f *File) Forget() { f.last = stamp{} }

// settled is how long ago a file must have changed. A file that changed more recently may change again within one tick
// of the kernel's clock, without a trace.
const settled = time.Second

// Look reports whether the content, the owner or the mode may differ from those at the last call, or the file has come
// or gone. The first call reports true.
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
