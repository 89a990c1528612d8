package streams

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

// Conn is a net.Conn on which each side has proved that it has the fleet's secret, and sends one frame.
type Conn struct {
	net.Conn
	End     *Endpoint
	Purpose Purpose
	// Most is the greatest length of the other side's frame, in bytes.
	Most int
	once sync.Once
	// from is the address under which the connection is counted before it has proved itself.
	from netip.Addr
	// place is the connection's place, or its wait for one; nil before it has proved itself, and on a caller's side.
	place atomic.Pointer[queuedConn]
	// long is its place, or its wait for one, among the long frames.
	long atomic.Pointer[queuedConn]

	// Nonces are the nonces of caller and acceptor; no other connection has both.
	Nonces       []byte
	ours, theirs streamKeys
	// side and otherSide are "caller" and "acceptor", or the reverse. other is the identity of the other side, once
	// that has introduced itself.
	side, otherSide string
	Other           wire.MemberID
	// got is true once the other side's frame is in unread, which Read returns; sent is true once this side's frame is
	// sent.
	got, sent bool
	Unread    []byte
}

// register wraps conn and registers it until it is closed. If the transport is closed, it closes conn and returns nil.
func (e *Endpoint) register(conn net.Conn, p Purpose) *Conn {
	g := &Conn{Conn: conn, End: e}
	g.IsFor(p)
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

// IsFor sets what a connection is for.
func (g *Conn) IsFor(p Purpose) {
	g.Purpose, g.Most = p, p.longest(!g.End.Seal.Clear)
}

// AsAcceptor carries out the acceptor's part of the challenge.
func (g *Conn) AsAcceptor() error {
	var hello [PreambleSize + CallerNonce]byte
	// Port scanners and HTTP clients are cut off at once.
	if _, err := io.ReadFull(g.Conn, hello[:PreambleSize]); err != nil {
		return err
	}
	switch p := Purpose(hello[:PreambleSize]); p {
	case ForGossip, ForQuestion, ForCertificates:
		g.IsFor(p)
	default:
		return errNoPreamble
	}
	if _, err := io.ReadFull(g.Conn, hello[PreambleSize:]); err != nil {
		return err
	}
	reply := make([]byte, AcceptorNonce, AcceptorNonce+ProofSize)
	_, _ = rand.Read(reply) // It never fails.
	g.derive("acceptor", "caller", hello[PreambleSize:], reply)
	if _, err := g.Conn.Write(append(reply, g.ours.proof[:]...)); err != nil {
		return err
	}
	var proof [ProofSize]byte
	if _, err := io.ReadFull(g.Conn, proof[:]); err != nil {
		return err
	}
	return g.check(proof[:])
}

// AsCaller carries out the caller's part. It sends its proof before it checks the acceptor's proof, so that both sides
// can detect a wrong secret.
func (g *Conn) AsCaller() error {
	hello := append([]byte(g.Purpose), make([]byte, CallerNonce)...)
	_, _ = rand.Read(hello[PreambleSize:]) // It never fails.
	g.End.Seal.mark(hello[PreambleSize:])
	if _, err := g.Conn.Write(hello); err != nil {
		return err
	}
	var reply [AcceptorNonce + ProofSize]byte
	if _, err := io.ReadFull(g.Conn, reply[:]); err != nil {
		return err
	}
	g.derive("caller", "acceptor", hello[PreambleSize:], reply[:AcceptorNonce])
	if _, err := g.Conn.Write(g.ours.proof[:]); err != nil {
		return err
	}
	return g.check(reply[AcceptorNonce:])
}

func (g *Conn) derive(ours, theirs string, caller, acceptor []byte) {
	g.side, g.otherSide, g.Nonces = ours, theirs, slices.Concat(caller, acceptor)
	g.ours = g.End.Seal.streamKeys(g.Purpose, ours, g.Nonces)
	g.theirs = g.End.Seal.streamKeys(g.Purpose, theirs, g.Nonces)
}

func (g *Conn) check(proof []byte) error {
	if subtle.ConstantTimeCompare(proof, g.theirs.proof[:]) != 1 {
		return packets.ErrForeignSeal
	}
	return nil
}

// Receive reads the frame of the other side; its content is then in Unread.
func (g *Conn) Receive() error {
	defer g.leave(&g.long)
	content, err := readFrame(g.Conn, &g.theirs, g.Most, func() error {
		if g.place.Load() == nil {
			return nil // this side is the caller
		}
		return g.End.wait(&g.long, g.End.long.hold(g))
	})
	if err != nil {
		return err
	}
	if g.Purpose.introduces() {
		if content, err = g.introduced(content); err != nil {
			return err
		}
	}
	g.got, g.Unread = true, content
	return nil
}

// leave gives a place back, or ends the wait for one.
func (g *Conn) leave(as *atomic.Pointer[queuedConn]) {
	if q := as.Load(); q != nil {
		q.queue.leave(q, time.Now())
	}
}

// introduced returns the message after an introduction, if the other side is trusted.
func (g *Conn) introduced(content []byte) ([]byte, error) {
	in, err := admission.ParseIntroduction(content)
	if err != nil {
		return nil, err
	}
	if err := in.Check(g.End.Admission, g.otherSide, g.Nonces); err != nil {
		if !errors.Is(err, identity.ErrForged) {
			g.End.Outsiders.Note(admission.Outsider{
				Name: in.Name, ID: wire.MemberIDOf(in.Key), Key: slices.Clone(in.Key), Addr: g.RemoteAddr(), Why: err,
				At: time.Now(),
			})
		}
		return nil, &UntrustedError{Who: in.Name, Why: err}
	}
	g.Other = wire.MemberIDOf(in.Key)
	if g.End.Admission.Checks() {
		g.End.Admitted(in.Name, g.Other)
	}
	if g.Purpose == ForCertificates {
		return in.Message, nil
	}
	if err := packets.FilterStream(in.Message); err != nil {
		return nil, err
	}
	g.End.Heard(g.Other, in.Message)
	return in.Message, nil
}

// Read reads the content of the other side's frame.
func (g *Conn) Read(b []byte) (int, error) {
	if !g.got {
		if err := g.Receive(); err != nil {
			return 0, err
		}
	}
	if len(g.Unread) == 0 {
		return 0, io.EOF
	}
	n := copy(b, g.Unread)
	g.Unread = g.Unread[n:]
	return n, nil
}

// Write sends a frame: memberlist writes its whole message at once.
func (g *Conn) Write(b []byte) (int, error) {
	if g.sent {
		return 0, errSecond
	}
	g.sent = true
	content := b
	if g.Purpose.introduces() {
		content = g.End.Me.Introduce(g.side, g.Nonces, b)
	}
	if _, err := g.Conn.Write(appendFrame(content, &g.ours)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close closes a connection, and gives back its place.
func (g *Conn) Close() error {
	var err error
	g.once.Do(func() {
		err = g.Conn.Close()
		g.End.mu.Lock()
		delete(g.End.conns, g)
		g.End.mu.Unlock()
		g.leave(&g.place)
		g.leave(&g.long)
	})
	return err
}

// QuestionOverhead is the length of what comes before the content of a question: the asker, and a signature.
const QuestionOverhead = len(wire.MemberID{}) + ed25519.SignatureSize

// MaxQuestion is the longest content of a question, in bytes.
const MaxQuestion = 1 << 10

// UntrustedError is the reason why a host is not trusted.
type UntrustedError struct {
	Who string
	Why error
}

func (e *UntrustedError) Error() string { return fmt.Sprintf("%q is not trusted: %v", e.Who, e.Why) }

func (e *UntrustedError) Unwrap() error { return e.Why }
