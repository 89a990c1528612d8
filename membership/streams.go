package membership

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"errors"
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
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// Streams accepts and opens connections at the agent's bound address.
type Streams interface {
	// Accept waits for the next incoming connection. After Close it returns net.ErrClosed.
	Accept() (net.Conn, error)
	// Dial connects to dst, unless ctx is done first.
	Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error)
	// Close ends Accept. It may be called more than once.
	Close() error
}

// A connection carries gossip, a question and its answer (see question), or certificates. It begins with a challenge of
// each side, so that a host without the secret takes no place and no memory, and gets nothing to read:
//
//	caller                                                    acceptor
//	  |-- preamble 4, nonce 32 ---------------------------------->|   the nonce begins with the mark of the secret
//	  |<-- nonce 16, proof 16 ------------------------------------|   of the acceptor, over both nonces; shorter than what it got
//	  |-- proof 16, frame ---------------------------------------->|   who calls, signed, and memberlist's message
//	  |<-- frame --------------------------------------------------|
const (
	preambleSize  = 4
	callerNonce   = 32
	acceptorNonce = 16
	proofSize     = 16

	// maxPreAuth is how many connections may be on their way to prove themselves, maxPreAuthPerAddr how many of one
	// address.
	maxPreAuth        = 256
	maxPreAuthPerAddr = 32
	// maxSending and maxPerSending are the same for connections that send their frame without a secret, which takes
	// memory.
	maxSending    = 16
	maxPerSending = 4
	// greetingTime is how long an incoming connection may take to prove itself, frameTime to send its frame and to find
	// a place.
	greetingTime = 2 * time.Second
	frameTime    = 5 * time.Second
	// acceptPause is how long to wait after Accept failed, for example because no file descriptor was free.
	acceptPause = 250 * time.Millisecond
)

var (
	errNoPreamble = errors.New("it does not speak this protocol")
	errShutdown   = errors.New("shutting down")
	errCrowded    = errors.New("too many connections have not proved themselves")
	errBusy       = errors.New("too many connections wait")
	errSecond     = errors.New("a connection carries one message of each side")
)

// purpose is what a connection is for, by its preamble.
type purpose string

const (
	forGossip       purpose = "wdg\x03"
	forQuestion     purpose = "wdq\x01"
	forCertificates purpose = "wdc\x01"
)

// label makes the keys of one purpose useless for the others.
func (p purpose) label() string {
	switch p {
	case forQuestion:
		return "wanderd question stream v1"
	case forCertificates:
		return "wanderd certificate stream v1"
	case forGossip:
	}
	return "wanderd gossip stream v2"
}

func (p purpose) introduces() bool { return p == forGossip || p == forCertificates }

// longest is the greatest length, in bytes, of a frame that comes in unasked.
func (p purpose) longest(sealed bool) int {
	switch {
	case p == forQuestion:
		return questionOverhead + maxQuestion
	case p == forCertificates:
		return admission.MaxIntroduction + admission.MaxUnverified*len(wire.MemberID{})
	case sealed:
		return maxFrame
	}
	return maxClear
}

// accept greets incoming connections until the transport is closed.
func (t *gossipTransport) accept() {
	for {
		conn, err := t.cfg.Streams.Accept()
		if err != nil {
			if t.isClosed() || errors.Is(err, net.ErrClosed) {
				return
			}
			if ok, _ := t.acceptWarn.Allow(time.Now()); ok {
				t.cfg.Log.Warn().Err(err).Msg("cannot accept connections for gossip; trying again")
			}
			if !timing.Sleep(t.closed, acceptPause) {
				return
			}
			continue
		}
		g := t.guard(conn, forGossip)
		if g == nil {
			continue
		}
		t.preAuth.enter(g)
		t.working.Go(func() { t.greet(g) })
	}
}

// greet hands a connection to memberlist once it has proved itself, and its frame is there and has passed the filter;
// or answers its question.
func (t *gossipTransport) greet(g *guardedConn) {
	if err := t.admit(g); err != nil {
		_ = g.Close()
		t.refuse(g.RemoteAddr(), err)
		return
	}
	switch g.purpose {
	case forQuestion:
		t.count(t.answerQuestion(g))
	case forCertificates:
		t.count(t.showCertificates(g))
	case forGossip:
		select {
		case t.streamCh <- g:
			return // memberlist closes it
		case <-t.closed.Done():
		}
	}
	_ = g.Close()
}

// admit takes a connection through its first messages, and gives it a place.
func (t *gossipTransport) admit(g *guardedConn) error {
	_ = g.SetDeadline(time.Now().Add(greetingTime))
	err := g.answerCall()
	if !t.preAuth.leave(g) {
		return errCrowded
	}
	if err != nil {
		return err
	}
	_ = g.SetDeadline(time.Now().Add(frameTime))
	if t.seal.clear {
		t.sending.enter(g)
		err = g.receive()
		if !t.sending.leave(g) {
			return errCrowded
		}
		if err != nil {
			return err
		}
	}
	queue := t.queues[g.purpose]
	q := queue.hold(g)
	if err := t.wait(&g.place, q); err != nil {
		return err
	}
	if t.seal.clear {
		return nil
	}
	err = g.receive()
	if !queue.hear(q) {
		return errCrowded
	}
	return err
}

// wait waits for a place, and closes slow connections meanwhile. The connection's Close gives back the place that is
// stored in as.
func (t *gossipTransport) wait(as *atomic.Pointer[queuedConn], q *queuedConn) error {
	as.Store(q)
	q.queue.enter(q, time.Now())
	late := time.NewTimer(frameTime)
	defer late.Stop()
	tick := time.NewTicker(queueTick)
	defer tick.Stop()
	for {
		select {
		case <-q.called:
			if !q.queue.has(q) {
				return errCrowded
			}
			return nil
		case <-tick.C:
			q.queue.relieve(time.Now())
		case <-late.C:
			return errBusy
		case <-t.closed.Done():
			return errShutdown
		}
	}
}

// dial opens a connection for a purpose. It returns at once when the transport is closed.
func (t *gossipTransport) dial(dst netip.AddrPort, deadline time.Time, p purpose) (*guardedConn, error) {
	ctx, cancel := context.WithDeadline(t.closed, deadline)
	defer cancel()
	conn, err := t.cfg.Streams.Dial(ctx, dst)
	if err != nil {
		return nil, err
	}
	g := t.guard(conn, p)
	if g == nil {
		return nil, errShutdown
	}
	_ = g.SetDeadline(deadline)
	if err := g.call(); err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}

// guardedConn is a net.Conn on which each side has proved that it has the fleet's secret, and sends one frame.
type guardedConn struct {
	net.Conn
	transport *gossipTransport
	purpose   purpose
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
func (t *gossipTransport) guard(conn net.Conn, p purpose) *guardedConn {
	g := &guardedConn{Conn: conn, transport: t}
	g.isFor(p)
	if src, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		g.from = SourceOf(src.Addr())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed() {
		_ = conn.Close()
		return nil
	}
	t.conns[g] = struct{}{}
	return g
}

func (g *guardedConn) isFor(p purpose) {
	g.purpose, g.most = p, p.longest(!g.transport.seal.clear)
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
	g.transport.seal.mark(hello[preambleSize:])
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
	g.ours = g.transport.seal.streamKeys(g.purpose, ours, g.nonces)
	g.theirs = g.transport.seal.streamKeys(g.purpose, theirs, g.nonces)
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
		return g.transport.wait(&g.long, g.transport.long.hold(g))
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
	if err := in.Check(g.transport.admission, g.otherSide, g.nonces); err != nil {
		if !errors.Is(err, identity.ErrForged) {
			g.transport.outsiders.Note(Outsider{
				Name: in.Name, ID: wire.MemberIDOf(in.Key), Key: slices.Clone(in.Key), Addr: g.RemoteAddr(), Why: err, At: time.Now(),
			})
		}
		return nil, &untrustedError{in.Name, err}
	}
	g.other = wire.MemberIDOf(in.Key)
	if g.transport.admission.Checks() {
		g.transport.admitted(in.Name, g.other)
	}
	if g.purpose == forCertificates {
		return in.Message, nil
	}
	if err := packets.FilterStream(in.Message); err != nil {
		return nil, err
	}
	g.transport.hearOf(g.other, packets.EachInSync, in.Message)
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
		content = g.transport.me.Introduce(g.side, g.nonces, b)
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
		g.transport.mu.Lock()
		delete(g.transport.conns, g)
		g.transport.mu.Unlock()
		g.leave(&g.place)
		g.leave(&g.long)
	})
	return err
}

const questionOverhead = len(wire.MemberID{}) + ed25519.SignatureSize

// maxQuestion is the longest content of a question, in bytes.
const maxQuestion = 1 << 10
