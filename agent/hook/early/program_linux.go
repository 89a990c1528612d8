package early

import (
	"os"
	"syscall"
)

// build is the build of the program called [GuardName] that belongs to this program, as the linker notes it in that
// program; empty if none was built.
var build string //nolint:gochecknoglobals // the linker sets it

// places returns where the guard's program may be, relative to the directory of this program: beside it, where "make
// build" and the archive have it; or where packages install it, which nobody has in PATH.
func places() []string { return []string{"", "../libexec/wanderd/"} }

// Program returns a path of the program with which to guard: the small one that was built with this program, and
// otherwise this program, valid even if its file was replaced since the start. A guard of another build might not
// understand its tasks.
func Program() (path string, err error) {
	self, err := os.Executable()
	if build == "" || err != nil {
		return "/proc/self/exe", nil
	}
	end := len(self)
	for end > 0 && self[end-1] != '/' {
		end--
	}
	for _, place := range places() {
		if path = self[:end] + place + GuardName; isBuild(path, build) {
			return path, nil
		}
	}
	return "/proc/self/exe", nil
}

// isBuild reports whether a program is a certain build: the linker notes the build in the first 4 KiB.
func isBuild(path, build string) bool {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	head := make([]byte, 4<<10)
	n, _ := syscall.Read(fd, head)
	for i := 0; i+len(build) <= n; i++ {
		if string(head[i:i+len(build)]) == build {
			return true
		}
	}
	return false
}
