package control

import (
	"context"
	"net"
	"os"
	"slices"
)

// peer is who is at the other end of a connection, as the kernel knows it since the connection was made.
type peer struct {
	pid    int
	user   uint32
	groups []uint32
}

type connKey struct{}

// withConn lets a handler know the connection of its request.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// peerOf returns who sends a request, if the system tells that.
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

// owns reports whether somebody may do everything: the agent's user, and root.
func owns(p peer) bool { return p.user == 0 || int(p.user) == os.Geteuid() }

// admits reports whether somebody may use the socket: those who own it, and the members of its group.
func (s *socket) admits(p peer) bool {
	return owns(p) || s.group >= 0 && slices.Contains(p.groups, uint32(s.group))
}
