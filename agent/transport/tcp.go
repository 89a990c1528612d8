package transport

import (
	"context"
	"net"
	"net/netip"
	"time"
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

func (t *tcp) Dial(dst netip.AddrPort, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialTCP(context.Background(), "tcp", t.from, dst)
	if err != nil {
		return nil, err // not a nil *net.TCPConn in an interface
	}
	return conn, nil
}
