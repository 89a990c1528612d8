package transport

import (
	"context"
	"net"
	"net/netip"
)

// tcp accepts connections, and opens them from its bound address.
type tcp struct {
	*net.TCPListener
	// from is the local address of Dial; the zero AddrPort lets the kernel choose.
	from netip.AddrPort
}

func newTCP(listener *net.TCPListener, bound netip.Addr) *tcp {
	t := &tcp{TCPListener: listener}
	if !bound.IsUnspecified() {
		t.from = netip.AddrPortFrom(bound, 0)
	}
	return t
}

func (t *tcp) Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialTCP(ctx, "tcp", t.from, dst)
	if err != nil {
		return nil, err // not a nil *net.TCPConn in an interface
	}
	return conn, nil
}
