package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// portTries bounds the attempts to find a port that is free for both TCP and UDP.
const portTries = 16

// Listen binds one UDP socket and one TCP listener to the same address. Port 0 chooses a port that is free for both.
// The unspecified IPv6 address accepts IPv4 too. Errors name the address and the remedy.
//
// The prefix is the beginning of every accepted datagram. On Linux the kernel drops others before they wake the reader.
// Other systems deliver them, so the reader must check the prefix. Without one all datagrams are accepted.
func Listen(bind netip.AddrPort, prefix []byte) (*Endpoint, error) {
	return listen(bind, prefix, attachFilter)
}

// listen is Listen with a function that attaches the filter. A host without IPv6 binds the unspecified IPv4 address
// instead.
func listen(bind netip.AddrPort, prefix []byte, attach func(*net.UDPConn, []byte) error) (*Endpoint, error) {
	endpoint, err := listenAt(bind, prefix, attach)
	if bind.Addr() == netip.IPv6Unspecified() && (errors.Is(err, syscall.EAFNOSUPPORT) ||
		errors.Is(err, syscall.EADDRNOTAVAIL)) {
		return listenAt(netip.AddrPortFrom(netip.IPv4Unspecified(), bind.Port()), prefix, attach)
	}
	return endpoint, err
}

func listenAt(bind netip.AddrPort, prefix []byte, attach func(*net.UDPConn, []byte) error) (*Endpoint, error) {
	var tcp *net.TCPListener
	var udp *net.UDPConn
	for try := 1; ; try++ {
		var err error
		tcp, err = net.ListenTCP(network("tcp", bind), net.TCPAddrFromAddrPort(bind))
		if err != nil {
			return nil, explain(err, "TCP", bind)
		}
		chosen := netip.AddrPortFrom(bind.Addr(), tcp.Addr().(*net.TCPAddr).AddrPort().Port())
		udp, err = net.ListenUDP(network("udp", chosen), net.UDPAddrFromAddrPort(chosen))
		if err == nil {
			bind = chosen
			break
		}
		_ = tcp.Close()
		if bind.Port() != 0 || !errors.Is(err, syscall.EADDRINUSE) || try == portTries {
			return nil, explain(err, "UDP", chosen)
		}
	}
	if len(prefix) > 0 {
		_ = attach(udp, prefix) // only an optimisation: the reader checks each datagram anyway
	}
	return &Endpoint{Packets: newUDP(udp), Streams: newTCP(tcp, bind.Addr()), Addr: bind}, nil
}

// network makes an IPv4 address an IPv4-only socket. For the unspecified address, Go would make a dual-stack socket.
func network(protocol string, bind netip.AddrPort) string {
	if bind.Addr().Is4() {
		return protocol + "4"
	}
	return protocol
}

// explain adds the remedy to an error of bind.
func explain(err error, protocol string, bind netip.AddrPort) error {
	var remedy string
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "it is in use, perhaps by another wanderd: stop that one, or choose another port with --bind"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		remedy = "this host has no such address: set one of its own with --bind"
	case errors.Is(err, syscall.EACCES):
		remedy = "the port needs privileges: choose one above 1023 with --bind"
	case errors.Is(err, syscall.EAFNOSUPPORT):
		remedy = "this host does not support that IP version: set another address with --bind"
	default:
		return fmt.Errorf("cannot listen on %s %v: %w; see --bind", protocol, bind, err)
	}
	return fmt.Errorf("cannot listen on %s %v: %s (%w)", protocol, bind, remedy, errors.Unwrap(err))
}
