package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// backlogSize is how many connections can wait for Accept; further ones are refused.
const backlogSize = 128

// streams are the transport.Streams of an endpoint.
type streams struct{ *endpoint }

func (s streams) Accept() (net.Conn, error) {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	for {
		if s.streamsClosed {
			return nil, &net.OpError{
				Op: "accept", Net: "tcp", Addr: net.TCPAddrFromAddrPort(s.addr), Err: net.ErrClosed,
			}
		}
		if len(s.backlog) > 0 {
			c := s.backlog[0]
			s.backlog = s.backlog[1:]
			return c, nil
		}
		s.dialled.Wait()
	}
}

// Dial is refused if nobody listens at dst. Across a cut it waits until ctx is done.
func (s streams) Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error) {
	n := s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		s.dialled.Broadcast()
	})()
	there := time.Now().Add(n.options.Latency)
	for {
		to := n.endpoints[dst]
		switch {
		case s.streamsClosed:
			return nil, dialError(dst, net.ErrClosed)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, dialError(dst, os.ErrDeadlineExceeded)
		case ctx.Err() != nil:
			return nil, dialError(dst, ctx.Err())
		case n.cut[linkOf(s.addr, dst)]:
			s.dialled.Wait()
			continue
		case time.Now().Before(there):
			waitUntil(s.dialled, there)
			continue
		case to == nil || to.streamsClosed || len(to.backlog) >= backlogSize:
			return nil, dialError(dst, syscall.ECONNREFUSED)
		}
		n.ephemeral++
		near := netip.AddrPortFrom(s.addr.Addr(), n.ephemeral)
		st := newStream(n, s.addr, near, dst)
		to.backlog = append(to.backlog, st.ends[1])
		to.dialled.Broadcast()
		return st.ends[0], nil
	}
}

// Close leaves open connections open, as with a real listener.
func (s streams) Close() error {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	s.closeStreams()
	return nil
}

func (e *endpoint) closeStreams() {
	e.streamsClosed = true
	for _, c := range e.backlog {
		c.stream.reset()
	}
	e.backlog = nil
	e.dialled.Broadcast()
}

func dialError(dst netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(dst), Err: err}
}

// stream is a connection: two ends, each with the bytes that the other end has written and this one has not read.
type stream struct {
	net     *Network
	ends    [2]*conn
	changed *sync.Cond
	// broken is true once an end has crashed.
	broken bool
}

// newStream connects the endpoint at dialer, which uses the local address near, with the one at dst.
func newStream(n *Network, dialer, near, dst netip.AddrPort) *stream {
	s := &stream{net: n, changed: sync.NewCond(&n.mu)}
	s.ends[0] = &conn{stream: s, endpoint: dialer, local: near, remote: dst}
	s.ends[1] = &conn{stream: s, endpoint: dst, local: dst, remote: near}
	s.ends[0].peer, s.ends[1].peer = s.ends[1], s.ends[0]
	n.streams = append(n.streams, s)
	return s
}

func (s *stream) cut() bool { return s.net.cut[linkOf(s.ends[0].endpoint, s.ends[1].endpoint)] }

// reset breaks the stream for both ends and forgets it.
func (s *stream) reset() {
	s.broken = true
	s.forget()
}

// forget removes the stream from the network: a cut or a crash no longer affects it.
func (s *stream) forget() {
	s.net.streams = slices.DeleteFunc(slices.Clone(s.net.streams), func(o *stream) bool { return o == s })
	s.changed.Broadcast()
}

// segment is a piece of a stream that can be read from the time due on.
type segment struct {
	due  time.Time
	data []byte
}

// conn is one end of a stream, a net.Conn.
type conn struct {
	stream        *stream
	peer          *conn
	endpoint      netip.AddrPort
	local, remote netip.AddrPort

	incoming []segment
	closed   bool
	closedAt time.Time

	readDeadline, writeDeadline time.Time
}

func (c *conn) Read(b []byte) (int, error) {
	n := c.stream.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		now := time.Now()
		var next time.Time // when there may next be something to read
		switch {
		case c.closed:
			return 0, c.failed("read", net.ErrClosed)
		case c.stream.broken:
			return 0, c.failed("read", syscall.ECONNRESET)
		case expired(c.readDeadline, now):
			return 0, c.failed("read", os.ErrDeadlineExceeded)
		case len(b) == 0:
			return 0, nil
		case c.stream.cut():
			// Nothing arrives, not even the other end's close.
		case len(c.incoming) > 0:
			if next = c.incoming[0].due; !next.After(now) {
				return c.take(b), nil
			}
		case c.peer.closed:
			if next = c.peer.closedAt.Add(n.options.Latency); !next.After(now) {
				return 0, io.EOF
			}
		}
		waitUntil(c.stream.changed, sooner(next, c.readDeadline))
	}
}

// take copies from the first segment.
func (c *conn) take(b []byte) int {
	first := &c.incoming[0]
	k := copy(b, first.data)
	if first.data = first.data[k:]; len(first.data) == 0 {
		c.incoming = c.incoming[1:]
	}
	return k
}

// Write never waits for the reader.
func (c *conn) Write(b []byte) (int, error) {
	n := c.stream.net
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	switch {
	case c.closed:
		return 0, c.failed("write", net.ErrClosed)
	case c.stream.broken:
		return 0, c.failed("write", syscall.ECONNRESET)
	case expired(c.writeDeadline, now):
		return 0, c.failed("write", os.ErrDeadlineExceeded)
	case c.peer.closed:
		return 0, c.failed("write", syscall.EPIPE)
	case len(b) > 0:
		c.peer.incoming = append(c.peer.incoming, segment{due: now.Add(n.options.Latency), data: slices.Clone(b)})
		c.stream.changed.Broadcast()
	}
	return len(b), nil
}

// Close lets the other end read the data in flight, then io.EOF.
func (c *conn) Close() error {
	n := c.stream.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.closed {
		return c.failed("close", net.ErrClosed)
	}
	c.closed, c.closedAt = true, time.Now()
	c.incoming = nil
	if c.peer.closed {
		c.stream.forget()
	}
	c.stream.changed.Broadcast()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.readDeadline, c.writeDeadline = t, t })
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.readDeadline = t })
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.writeDeadline = t })
}

func (c *conn) setDeadlines(set func()) error {
	n := c.stream.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	set()
	c.stream.changed.Broadcast()
	return nil
}

func (c *conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

func expired(deadline, now time.Time) bool { return !deadline.IsZero() && !deadline.After(now) }
