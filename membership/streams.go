package membership

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Streams accepts and opens connections at the agent's bound address.
type Streams interface {
	// Accept waits for the next incoming connection. After Close it returns net.ErrClosed.
	Accept() (net.Conn, error)
	// Dial connects to dst within timeout.
	Dial(dst netip.AddrPort, timeout time.Duration) (net.Conn, error)
	// Close ends Accept. It may be called more than once.
	Close() error
}

const (
	// streamPreamble is the first thing that the caller of a connection sends, as the agent's envelope begins every datagram.
	// Port scanners and HTTP clients are cut off at once.
	streamPreamble = "wdg\x01"
	// maxIncoming is how many incoming connections are served at a time. Further ones wait for Accept.
	maxIncoming = 16
	// greetingTime is how long an incoming connection may take to send its preamble and header.
	greetingTime = 2 * time.Second
	// acceptPause is how long to wait after Accept failed, for example because no file descriptor was free.
	acceptPause = 250 * time.Millisecond
)

var (
	errNoPreamble = errors.New("it does not speak this protocol")
	errTooLong    = fmt.Errorf("longer than %d bytes", maxStream)
	errShutdown   = errors.New("shutting down")
)

// accept hands incoming connections to memberlist until the transport is closed.
func (t *gossipTransport) accept() {
	for {
		select {
		case t.slots <- struct{}{}:
		case <-t.closed:
			return
		}
		conn, err := t.streams.Accept()
		if err != nil {
			<-t.slots
			if t.isClosed() || errors.Is(err, net.ErrClosed) {
				return
			}
			if ok, _ := t.acceptWarn.allow(time.Now()); ok {
				t.log.Warn().Err(err).Msg("cannot accept connections for gossip; trying again")
			}
			select {
			case <-time.After(acceptPause):
			case <-t.closed:
				return
			}
			continue
		}
		g := t.guard(conn, func() { <-t.slots })
		if g == nil {
			continue
		}
		t.working.Go(func() { t.greet(g) })
	}
}

// greet checks the beginning of a connection before memberlist buffers any of it.
func (t *gossipTransport) greet(g *guardedConn) {
	_ = g.SetDeadline(time.Now().Add(greetingTime))
	err := g.readPreamble()
	if err == nil {
		err = g.readHeader()
	}
	if err != nil {
		_ = g.Close()
		t.refuse(g.RemoteAddr(), err)
		return
	}
	select {
	case t.streamCh <- g:
	case <-t.closed:
		_ = g.Close()
	}
}

// dial opens a connection. It returns at once when the transport is closed; the goroutine that dials ends by itself.
func (t *gossipTransport) dial(dst netip.AddrPort, timeout time.Duration) (net.Conn, error) {
	done := make(chan dialled, 1)
	go func() {
		conn, err := t.streams.Dial(dst, timeout)
		done <- dialled{conn, err}
		if t.isClosed() {
			discard(done)
		}
	}()
	var r dialled
	select {
	case r = <-done:
	case <-t.closed:
		discard(done)
		return nil, errShutdown
	}
	if r.err != nil {
		return nil, r.err
	}
	g := t.guard(r.conn, func() {})
	if g == nil {
		return nil, errShutdown
	}
	_ = g.SetDeadline(time.Now().Add(timeout))
	if _, err := g.Write([]byte(streamPreamble)); err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}

// dialled is the outcome of a Dial.
type dialled struct {
	conn net.Conn
	err  error
}

// discard closes a connection that nobody received. Both sides of the channel call it, so one of them finds it.
func discard(done <-chan dialled) {
	select {
	case r := <-done:
		if r.conn != nil {
			_ = r.conn.Close()
		}
	default:
	}
}

// guardedConn passes a stream to memberlist only if its beginning is valid, and at most maxStream bytes of it.
type guardedConn struct {
	net.Conn
	transport *gossipTransport
	release   func()
	once      sync.Once

	// header holds bytes that were read ahead and that Read has not returned yet; valid once checked is set.
	checked bool
	header  []byte
	left    int
}

// guard wraps conn and registers it until it is closed; then it calls release. If the transport is closed, it closes conn and
// returns nil.
func (t *gossipTransport) guard(conn net.Conn, release func()) *guardedConn {
	g := &guardedConn{Conn: conn, transport: t, release: release, left: maxStream}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed() {
		_ = conn.Close()
		release()
		return nil
	}
	t.conns[g] = struct{}{}
	return g
}

func (g *guardedConn) readPreamble() error {
	var b [len(streamPreamble)]byte
	if _, err := io.ReadFull(g.Conn, b[:]); err != nil {
		return err
	}
	if string(b[:]) != streamPreamble {
		return errNoPreamble
	}
	return nil
}

// readHeader reads and checks the first streamHeaderSize bytes.
func (g *guardedConn) readHeader() error {
	header := make([]byte, streamHeaderSize)
	if _, err := io.ReadFull(g.Conn, header); err != nil {
		return err
	}
	if err := g.transport.seal.checkStream(header); err != nil {
		return err
	}
	g.checked, g.header = true, header
	return nil
}

// Read implements net.Conn.
func (g *guardedConn) Read(b []byte) (int, error) {
	if !g.checked {
		if err := g.readHeader(); err != nil {
			return 0, err
		}
	}
	if len(g.header) > 0 {
		n := copy(b, g.header)
		g.header = g.header[n:]
		return n, nil
	}
	if g.left == 0 {
		return 0, errTooLong
	}
	n, err := g.Conn.Read(b[:min(len(b), g.left)])
	g.left -= n
	return n, err
}

// Close implements net.Conn.
func (g *guardedConn) Close() error {
	var err error
	g.once.Do(func() {
		err = g.Conn.Close()
		g.transport.mu.Lock()
		delete(g.transport.conns, g)
		g.transport.mu.Unlock()
		g.release()
	})
	return err
}
