package control

import (
	"context"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// peer is the process at the other end of a connection, as the kernel has known it since the connection was made.
type peer struct {
	pid    int
	user   uint32
	groups []uint32
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// peerOf returns the sender of a request, if the system reports it.
func peerOf(ctx context.Context) (p peer, known bool) {
	conn, ok := ctx.Value(connKey{}).(*net.UnixConn)
	if !ok {
		return p, false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return p, false
	}
	err = raw.Control(func(fd uintptr) { p, known = credentials(int(fd)) })
	return p, known && err == nil
}

// userName returns the name of a user, or its number if it has no name.
func userName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

// owns reports whether a peer may do everything: the agent's user and root may.
func owns(p peer) bool { return p.user == 0 || int(p.user) == os.Geteuid() }

// admits reports whether a peer may use the socket: its owners and the members of its group may.
func (s *socket) admits(p peer) bool {
	return owns(p) || s.group >= 0 && slices.Contains(p.groups, uint32(s.group))
}
