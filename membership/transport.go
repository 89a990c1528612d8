package membership

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
)

// PacketWriter sends gossip through the agent's UDP socket, in the agent's envelope.
type PacketWriter interface {
	// WriteGossip sends payload, at most [MaxPacket] bytes, to dst. Several goroutines may call it at once. It does not
	// keep payload.
	WriteGossip(payload []byte, dst netip.AddrPort) error
}

const (
	// packetQueue is how many datagrams wait for memberlist; more are dropped and counted.
	packetQueue = 512
	// refusedWarnEvery is how often to warn of gossip that is not of this fleet.
	refusedWarnEvery = 5 * time.Minute
)

// gossipTransport is memberlist's way to the network: through the agent's sockets, and past our checks.
type gossipTransport struct {
	advertise netip.AddrPort
	packets   PacketWriter
	streams   Streams
	seal      *seal
	log       zerolog.Logger

	packetCh chan *memberlist.Packet
	streamCh chan net.Conn
	// slots has one place for each incoming connection that is served.
	slots   chan struct{}
	closed  chan struct{}
	working sync.WaitGroup

	mu    sync.Mutex
	conns map[*guardedConn]struct{}

	acceptWarn, foreignWarn, junkWarn throttle

	overflow, malformed, foreign, strangers atomic.Uint64
	// lastForeign is the last that was warned of as foreign.
	lastForeign atomic.Pointer[sign]
}

// sign is when something was seen, and where it came from.
type sign struct {
	at   time.Time
	from string
}

func newGossipTransport(
	advertise netip.AddrPort, p PacketWriter, s Streams, seal *seal, log zerolog.Logger,
) *gossipTransport {
	t := &gossipTransport{
		advertise: advertise, packets: p, streams: s, seal: seal, log: log,
		packetCh: make(chan *memberlist.Packet, packetQueue), streamCh: make(chan net.Conn),
		slots: make(chan struct{}, maxIncoming), closed: make(chan struct{}), conns: make(map[*guardedConn]struct{}),
		acceptWarn: throttle{every: refusedWarnEvery}, foreignWarn: throttle{every: refusedWarnEvery},
		junkWarn: throttle{every: refusedWarnEvery},
	}
	t.working.Go(t.accept)
	return t
}

func (t *gossipTransport) isClosed() bool {
	select {
	case <-t.closed:
		return true
	default:
		return false
	}
}

// deliver takes a datagram that the agent has read. Junk costs no allocation.
func (t *gossipTransport) deliver(payload []byte, src netip.AddrPort) {
	if t.isClosed() {
		return
	}
	if err := t.seal.checkPacket(payload); err != nil {
		t.count(err)
		if errors.Is(err, errForeignSeal) {
			if ok, more := t.foreignWarn.allow(time.Now()); ok {
				t.warnForeign(src.String(), more)
			}
		}
		return
	}
	if len(t.packetCh) == cap(t.packetCh) {
		t.overflow.Add(1)
		return
	}
	packet := &memberlist.Packet{
		Buf:       append([]byte(nil), payload...),
		From:      net.UDPAddrFromAddrPort(netip.AddrPortFrom(src.Addr().Unmap(), src.Port())),
		Timestamp: time.Now(),
	}
	select {
	case t.packetCh <- packet:
	default:
		t.overflow.Add(1)
	}
}

// refuse counts a connection that was cut off, and warns if that may be the operator's concern.
func (t *gossipTransport) refuse(src net.Addr, err error) {
	if t.isClosed() || errors.Is(err, net.ErrClosed) {
		return
	}
	switch {
	case errors.Is(err, errNotSealed), errors.Is(err, errSealed):
		t.foreignStream(src.String())
	default:
		t.count(err)
		if ok, more := t.junkWarn.allow(time.Now()); ok {
			t.log.Info().Stringer("addr", src).AnErr("reason", err).EmbedObject(more).
				Msg("cut off a connection that is not from a wanderd")
		}
	}
}

func (t *gossipTransport) count(err error) {
	switch {
	case errors.Is(err, errForeignSeal), errors.Is(err, errNotSealed), errors.Is(err, errSealed):
		t.foreign.Add(1)
	case errors.Is(err, errMalformed):
		t.malformed.Add(1)
	default:
		t.strangers.Add(1)
	}
}

// foreignStream counts a stream that turned out to be sealed with another secret when all of it had been read.
func (t *gossipTransport) foreignStream(src string) {
	t.foreign.Add(1)
	if ok, more := t.foreignWarn.allow(time.Now()); ok {
		t.warnForeign(src, more)
	}
}

func (t *gossipTransport) warnForeign(src string, more heldBack) {
	t.lastForeign.Store(&sign{at: time.Now(), from: src})
	t.log.Warn().Str("addr", src).EmbedObject(more).
		Msg(ForeignHint)
}

// ForeignHint says what foreign gossip means, and what to do about it.
const ForeignHint = "gossip from a host " + differentSecret + ": give all members of a fleet the same --secret-file"

// differentSecret is the guess at why another host's gossip means nothing here.
const differentSecret = "whose secret differs from this one's, or which is not a wanderd"

// FinalAdvertiseAddr implements memberlist.Transport.
func (t *gossipTransport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.advertise.Addr().AsSlice(), int(t.advertise.Port()), nil
}

// WriteTo implements memberlist.Transport.
func (t *gossipTransport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress implements memberlist.NodeAwareTransport. memberlist goes on with a failed probe as it should only if
// the error is a *net.OpError.
func (t *gossipTransport) WriteToAddress(b []byte, to memberlist.Address) (time.Time, error) {
	dst, err := netip.ParseAddrPort(to.Addr)
	if err == nil && t.isClosed() {
		err = errShutdown
	}
	if err == nil {
		err = t.packets.WriteGossip(b, dst)
	}
	if err != nil {
		return time.Time{}, &net.OpError{Op: "write", Net: "udp", Err: err}
	}
	return time.Now(), nil
}

// PacketCh implements memberlist.Transport.
func (t *gossipTransport) PacketCh() <-chan *memberlist.Packet { return t.packetCh }

// DialTimeout implements memberlist.Transport.
func (t *gossipTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *gossipTransport) DialAddressTimeout(to memberlist.Address, timeout time.Duration) (net.Conn, error) {
	dst, err := netip.ParseAddrPort(to.Addr)
	if err != nil {
		return nil, err
	}
	return t.dial(dst, timeout)
}

// StreamCh implements memberlist.Transport.
func (t *gossipTransport) StreamCh() <-chan net.Conn { return t.streamCh }

// Shutdown implements memberlist.Transport: it ends everything that waits for the network.
func (t *gossipTransport) Shutdown() error {
	t.mu.Lock()
	if t.isClosed() {
		t.mu.Unlock()
		return nil
	}
	close(t.closed)
	open := make([]*guardedConn, 0, len(t.conns))
	for g := range t.conns {
		open = append(open, g)
	}
	t.mu.Unlock()
	err := t.streams.Close()
	for _, g := range open {
		_ = g.Close()
	}
	t.working.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // the agent was faster
	}
	return err
}
