// Package transport is the agent's network access: one UDP socket and one TCP listener on the same port.
//
// It moves bytes and knows nothing of gossip, tokens, keys or members.
//
// Its decisions, in docs/decisions: 067.
package transport

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Packets is a datagram socket. [Listen] returns a real one; package memnet has one for tests in virtual time.
type Packets interface {
	// ReadFrom waits for the next datagram, copies it into buf and returns its length, its source, and the local
	// address to which it was sent (the zero Addr if unknown). It returns net.ErrClosed after Close. It truncates a
	// datagram that is longer than buf, so make buf one byte longer than the longest valid datagram. It does not
	// allocate.
	ReadFrom(buf []byte) (n int, src netip.AddrPort, dst netip.Addr, err error)
	// WriteTo sends b to dst once, from the local address src; the kernel chooses it if src is the zero Addr. It is
	// safe for concurrent use and does not keep b.
	WriteTo(b []byte, src netip.Addr, dst netip.AddrPort) error
	Close() error
}

// Streams accepts and opens connections on the same address.
type Streams interface {
	// Accept waits for the next incoming connection. After Close it returns net.ErrClosed.
	Accept() (net.Conn, error)
	// Dial connects to dst, unless ctx is done first.
	Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error)
	Close() error
}

// Endpoint is the two sockets of an agent.
type Endpoint struct {
	Packets Packets
	Streams Streams
	// Addr is the bound address, with the actual port if port 0 was requested.
	Addr netip.AddrPort
}

// Close closes both sockets.
func (e *Endpoint) Close() error { return errors.Join(e.Packets.Close(), e.Streams.Close()) }
