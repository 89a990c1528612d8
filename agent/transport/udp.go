package transport

import (
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	// trafficClass is CS2, "operations, administration and maintenance" (RFC 4594, section 3.3): small, rare messages
	// that should not starve behind the bulk transfers that they schedule. The higher classes are for voice and
	// routing.
	trafficClass = 16 << 2

	// The size of the receive buffer, in bytes: a burst of gossip must fit while the reader is busy. The kernel may
	// grant less.
	receiveBuffer = 1 << 20
	sendBuffer    = 256 << 10
)

// udp is a datagram socket that reports the local address of each datagram. x/net sets the socket's options. Package
// net reads and writes, because the calls of x/net allocate an address for every datagram.
type udp struct {
	conn *net.UDPConn
	// v4 is true if the socket is IPv4 only. Otherwise it is IPv6, and uses mapped addresses for IPv4.
	v4 bool
}

func newUDP(conn *net.UDPConn) *udp {
	u := &udp{conn: conn, v4: conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Is4()}
	// If the system refuses an option, datagrams still pass.
	_ = conn.SetReadBuffer(receiveBuffer)
	_ = conn.SetWriteBuffer(sendBuffer)
	p4 := ipv4.NewPacketConn(conn)
	_ = p4.SetTOS(trafficClass) // on an IPv6 socket: for mapped addresses
	if u.v4 {
		_ = p4.SetControlMessage(ipv4.FlagDst, true)
		return u
	}
	p6 := ipv6.NewPacketConn(conn)
	_ = p6.SetTrafficClass(trafficClass)
	_ = p6.SetControlMessage(ipv6.FlagDst, true)
	return u
}

func (u *udp) ReadFrom(buf []byte) (n int, src netip.AddrPort, dst netip.Addr, err error) {
	var control [controlSize]byte
	n, got, _, src, err := u.conn.ReadMsgUDPAddrPort(buf, control[:])
	if err != nil {
		return 0, netip.AddrPort{}, netip.Addr{}, err
	}
	return n, netip.AddrPortFrom(src.Addr().Unmap(), src.Port()), localAddress(control[:got]), nil
}

func (u *udp) WriteTo(b []byte, src netip.Addr, dst netip.AddrPort) error {
	var control [controlSize]byte
	used := 0
	if src.IsValid() {
		used = putLocalAddress(&control, src, u.v4)
	}
	if u.v4 {
		dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	}
	_, _, err := u.conn.WriteMsgUDPAddrPort(b, control[:used], dst)
	return err
}

func (u *udp) Close() error { return u.conn.Close() }
