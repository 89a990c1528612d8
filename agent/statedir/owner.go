package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ActAsOwner makes this process act from now on as the owner of a state directory, if the process is root's and the
// directory is not. Then everything that it writes there belongs to the agent's user, and a link that this user has
// made leads root nowhere. It is for short commands, because there is no way back.
func ActAsOwner(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if owner.Uid == 0 {
		return nil
	}
	for _, become := range []func() error{
		func() error { return syscall.Setgroups([]int{int(owner.Gid)}) },
		func() error { return syscall.Setgid(int(owner.Gid)) },
		func() error { return syscall.Setuid(int(owner.Uid)) },
	} {
		if err := become(); err != nil {
			return fmt.Errorf("cannot act as the owner of the state directory %s, user %d: %w; run this as that user",
				dir, owner.Uid, err)
		}
	}
	return nil
}
