package control

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostGroups bounds how many groups of a peer are looked at. Linux allows no more.
const mostGroups = 65536

// credentials asks the kernel for the process at the other end of a socket (unix(7): SO_PEERCRED and SO_PEERGROUPS).
func credentials(fd int) (peer, bool) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, false
	}
	p := peer{pid: int(c.Pid), user: c.Uid, groups: []uint32{c.Gid}}
	for room := 64; room <= mostGroups; room *= 4 {
		groups := make([]uint32, room)
		size := uint32(4 * room)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 {
			p.groups = append(p.groups, groups[:size/4]...)
		}
		if errno != unix.ERANGE {
			break
		}
	}
	return p, true
}
