package membership

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/wire"
)

// guardedConn is a net.Conn on which each side has proved that it has the fleet's secret, and sends one frame.
type guardedConn struct {
	net.Conn
	end     *endpoint
	purpose purpose
	// most is how long the frame of the other side may be, in bytes.
	most int
	once sync.Once
	// from is the address by which connections are counted before they have proved themselves.
	from netip.Addr
	// place is its place, or its wait for one; nil before it has proved itself, and on a caller's side.
	place atomic.Pointer[queuedConn]
	// long is the same for a long frame.
	long atomic.Pointer[queuedConn]

	// nonces are the caller's and the acceptor's; no other connection has both.
	nonces       []byte
	ours, theirs streamKeys
	// side and otherSide are "caller" and "acceptor", or the reverse. other is who the other side is, once it has
	// introduced itself.
	side, otherSide string
	other           wire.MemberID
	// got is set once the frame of the other side is in unread, which Read returns; sent once this side's frame is
	// sent.
	got, sent bool
	unread    []byte
}

// guard wraps conn and registers it until it is closed. If the transport is closed, it closes conn and returns nil.
func (e *endpoint) guard(conn net.Conn, p purpose) *guardedConn {
	g := &guardedConn{Conn: conn, end: e}
	g.isFor(p)
	if src, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		g.from = SourceOf(src.Addr())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isClosed() {
		_ = conn.Close()
		return nil
	}
	e.conns[g] = struct{}{}
	return g
}

func (g *guardedConn) isFor(p purpose) {
	g.purpose, g.most = p, p.longest(!g.end.seal.clear)
}

// answerCall is the acceptor's part of the challenge.
func (g *guardedConn) answerCall() error {
	var hello [preambleSize + callerNonce]byte
	// Port scanners and HTTP clients are cut off at once.
	if _, err := io.ReadFull(g.Conn, hello[:preambleSize]); err != nil {
		return err
	}
	switch p := purpose(hello[:preambleSize]); p {
	case forGossip, forQuestion, forCertificates:
		g.isFor(p)
	default:
		return errNoPreamble
	}
	if _, err := io.ReadFull(g.Conn, hello[preambleSize:]); err != nil {
		return err
	}
	reply := make([]byte, acceptorNonce, acceptorNonce+proofSize)
	_, _ = rand.Read(reply) // It never fails.
	g.derive("acceptor", "caller", hello[preambleSize:], reply)
	if _, err := g.Conn.Write(append(reply, g.ours.proof[:]...)); err != nil {
		return err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(g.Conn, proof[:]); err != nil {
		return err
	}
	return g.check(proof[:])
}

// call is the caller's part. It sends its proof before it checks the acceptor's proof, so that both sides can tell a
// wrong secret.
func (g *guardedConn) call() error {
	hello := append([]byte(g.purpose), make([]byte, callerNonce)...)
	_, _ = rand.Read(hello[preambleSize:]) // It never fails.
	g.end.seal.mark(hello[preambleSize:])
	if _, err := g.Conn.Write(hello); err != nil {
		return err
	}
	var reply [acceptorNonce + proofSize]byte
	if _, err := io.ReadFull(g.Conn, reply[:]); err != nil {
		return err
	}
	g.derive("caller", "acceptor", hello[preambleSize:], reply[:acceptorNonce])
	if _, err := g.Conn.Write(g.ours.proof[:]); err != nil {
		return err
	}
	return g.check(reply[acceptorNonce:])
}

func (g *guardedConn) derive(ours, theirs string, caller, acceptor []byte) {
	g.side, g.otherSide, g.nonces = ours, theirs, slices.Concat(caller, acceptor)
	g.ours = g.end.seal.streamKeys(g.purpose, ours, g.nonces)
	g.theirs = g.end.seal.streamKeys(g.purpose, theirs, g.nonces)
}

func (g *guardedConn) check(proof []byte) error {
	if subtle.ConstantTimeCompare(proof, g.theirs.proof[:]) != 1 {
		return packets.ErrForeignSeal
	}
	return nil
}

func (g *guardedConn) receive() error {
	defer g.leave(&g.long)
	content, err := readFrame(g.Conn, &g.theirs, g.most, func() error {
		if g.place.Load() == nil {
			return nil // this side has called
		}
		return g.end.wait(&g.long, g.end.long.hold(g))
	})
	if err != nil {
		return err
	}
	if g.purpose.introduces() {
		if content, err = g.introduced(content); err != nil {
			return err
		}
	}
	g.got, g.unread = true, content
	return nil
}

// Leave gives back a place, or ends the wait for one.
func (g *guardedConn) leave(as *atomic.Pointer[queuedConn]) {
	if q := as.Load(); q != nil {
		q.queue.leave(q, time.Now())
	}
}

// introduced returns the message behind an introduction, if the other side may speak.
func (g *guardedConn) introduced(content []byte) ([]byte, error) {
	in, err := admission.ParseIntroduction(content)
	if err != nil {
		return nil, err
	}
	if err := in.Check(g.end.admission, g.otherSide, g.nonces); err != nil {
		if !errors.Is(err, identity.ErrForged) {
			g.end.outsiders.Note(Outsider{
				Name: in.Name, ID: wire.MemberIDOf(in.Key), Key: slices.Clone(in.Key), Addr: g.RemoteAddr(), Why: err, At: time.Now(),
			})
		}
		return nil, &untrustedError{in.Name, err}
	}
	g.other = wire.MemberIDOf(in.Key)
	if g.end.admission.Checks() {
		g.end.admitted(in.Name, g.other)
	}
	if g.purpose == forCertificates {
		return in.Message, nil
	}
	if err := packets.FilterStream(in.Message); err != nil {
		return nil, err
	}
	g.end.heard(g.other, in.Message)
	return in.Message, nil
}

func (g *guardedConn) Read(b []byte) (int, error) {
	if !g.got {
		if err := g.receive(); err != nil {
			return 0, err
		}
	}
	if len(g.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(b, g.unread)
	g.unread = g.unread[n:]
	return n, nil
}

// Write sends a frame: memberlist writes all that it has to say at once.
func (g *guardedConn) Write(b []byte) (int, error) {
	if g.sent {
		return 0, errSecond
	}
	g.sent = true
	content := b
	if g.purpose.introduces() {
		content = g.end.me.Introduce(g.side, g.nonces, b)
	}
	if _, err := g.Conn.Write(appendFrame(content, &g.ours)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (g *guardedConn) Close() error {
	var err error
	g.once.Do(func() {
		err = g.Conn.Close()
		g.end.mu.Lock()
		delete(g.end.conns, g)
		g.end.mu.Unlock()
		g.leave(&g.place)
		g.leave(&g.long)
	})
	return err
}

const questionOverhead = len(wire.MemberID{}) + ed25519.SignatureSize

// maxQuestion is the longest content of a question, in bytes.
const maxQuestion = 1 << 10

// untrustedError says why the word of a host does not count.
type untrustedError struct {
	who string
	why error
}

func (e *untrustedError) Error() string { return fmt.Sprintf("%q is not trusted: %v", e.who, e.why) }

func (e *untrustedError) Unwrap() error { return e.why }
