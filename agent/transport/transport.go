// Package transport is the agent's way to the network: one UDP socket and one TCP listener on the same port.
//
// It moves bytes. It knows nothing of gossip, tokens, keys or members.
package transport

import (
	"net"
	"net/netip"
	"time"
)

// Packets is a datagram socket. [Listen] returns a real one; package memnet has one for tests in virtual time.
type Packets interface {
	// ReadFrom waits for the next datagram, copies it into buf and returns its length, where it came from, and the local
	// address it was sent to (the zero Addr where that is not known). It returns net.ErrClosed after Close. A datagram
	// longer than buf is cut, so buf has room for one byte more than the longest that is welcome. It does not allocate.
	ReadFrom(buf []byte) (n int, src netip.AddrPort, dst netip.Addr, err error)
	// WriteTo sends b to dst once, from the local address src; the kernel chooses where src is the zero Addr. Several
	// goroutines may call it at once. It does not keep b.
	WriteTo(b []byte, src netip.Addr, dst netip.AddrPort) error
	Close() error
}

// Streams accepts and opens connections on the same address.
type Streams interface {
	// Accept waits for the next incoming connection; net.ErrClosed after Close.
	Accept() (net.Conn, error)
	// Dial connects to dst within timeout.
	Dial(dst netip.AddrPort, timeout time.Duration) (net.Conn, error)
	Close() error
}

// Endpoint is an agent's place on the network.
type Endpoint struct {
	Packets Packets
	Streams Streams
	// Addr is what it is bound to, with the port that was chosen if 0 was asked for.
	Addr netip.AddrPort
}

// Close closes both.
func (e *Endpoint) Close() error {
	perr := e.Packets.Close()
	serr := e.Streams.Close()
	if perr != nil {
		return perr
	}
	return serr
}
