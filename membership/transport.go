package membership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

const (
	// refusedWarnEvery is the least time between two warnings about gossip that is not of this fleet.
	refusedWarnEvery = 5 * time.Minute
)

// gossipTransport is memberlist's NodeAwareTransport: it uses the agent's sockets and checks all input.
type gossipTransport struct {
	cfg       *Config
	advertise netip.AddrPort
	seal      *streams.Seal
	me        *admission.Introducer
	streams   *streams.Endpoint
	admission *admission.Admission

	packetCh chan *memberlist.Packet
	streamCh chan net.Conn
	// closed is done when the transport is closed.
	closed context.Context
	// answers is nil with a secret.
	answers *packets.Answers
	// member finds a live member.
	member func(wire.MemberID) (*Member, bool)
	// asking has the members whose questions are being answered, showing the members to which certificates are being
	// shown.
	asking, showing sync.Map
	// unverified are the members whose certificates are missing here.
	unverified *admission.Unverified

	mu sync.Mutex
	// bySecond has the members whose last datagram was not sealed with the first key; second is how many they are.
	bySecond map[wire.MemberID]struct{}
	second   atomic.Int32

	foreignWarn, junkWarn, untrustedWarn timing.Throttle

	overflow, malformed, foreign, noPreamble, untrusted, crowded atomic.Uint64
	// unsent gets the nodes to which a datagram could not be sent; nil if this is of no interest.
	unsent func(node string, err error)
	// lastForeign is the last foreign gossip that was noted; nil if none was.
	lastForeign atomic.Pointer[sign]
	// heard is when memberlist last got a datagram, as the time since begun.
	begun time.Time
	heard atomic.Int64
}

// sign is the time and the source of an observation.
type sign struct {
	at   time.Time
	from string
}

func newGossipTransport(
	cfg *Config, me *admission.Introducer, advertise netip.AddrPort, seal *streams.Seal, admitted *admission.Admission,
	member func(wire.MemberID) (*Member, bool),
) *gossipTransport {
	t := &gossipTransport{
		cfg: cfg, advertise: advertise, seal: seal, me: me, admission: admitted,
		packetCh: make(chan *memberlist.Packet, packets.QueueSize), streamCh: make(chan net.Conn),
		member: member, unverified: admission.NewUnverified(me.ID), bySecond: make(map[wire.MemberID]struct{}),
		foreignWarn: timing.Throttle{Every: refusedWarnEvery},
		junkWarn:    timing.Throttle{Every: refusedWarnEvery}, untrustedWarn: timing.Throttle{Every: refusedWarnEvery},
		begun: time.Now(),
	}
	t.streams = streams.New(streams.Config{
		Streams: cfg.Streams, Seal: seal, Me: me, Admission: admitted, Serve: t.serve, Refuse: t.refuse,
		Admitted: t.admitted,
		Heard:    func(from wire.MemberID, message []byte) { t.hearOf(from, packets.EachInSync, message) },
		Log:      cfg.Log,
	})
	t.closed = t.streams.Closed
	t.lastForeign.Store(&sign{})
	if seal.Clear {
		t.answers = new(packets.Answers)
	}
	t.streams.Start()
	return t
}

func (t *gossipTransport) isClosed() bool { return t.closed.Err() != nil }

// deliver handles a datagram that the agent has read. It does not allocate for junk. It reports whether memberlist gets
// the datagram.
func (t *gossipTransport) deliver(payload []byte, src netip.AddrPort) bool {
	if t.isClosed() {
		return false
	}
	scratch := t.seal.Scratch.Get().(*[streams.MaxPacket]byte)
	defer t.seal.Scratch.Put(scratch)
	plain, by, err := t.seal.Open(scratch, payload)
	var asked packets.Ping
	var from wire.MemberID
	if err == nil {
		from, plain, err = t.vouched(plain, by, src.Addr())
	}
	if err == nil {
		asked, err = packets.Filter(plain, t.seal.Clear)
	}
	if err != nil {
		t.count(err)
		if errors.Is(err, packets.ErrForeignSeal) {
			onForeign(t, src)
		}
		return false
	}
	if len(t.packetCh) == cap(t.packetCh) {
		t.overflow.Add(1)
		return false
	}
	if t.answers != nil && asked.Size > 0 {
		t.answers.Owe(asked, src)
	}
	t.hearOf(from, packets.EachInPacket, plain)
	t.heard.Store(int64(time.Since(t.begun)))
	return t.enqueue(slices.Clone(plain), src)
}

// enqueue hands a packet to memberlist, and reports whether there was room. It keeps b.
func (t *gossipTransport) enqueue(b []byte, src netip.AddrPort) bool {
	packet := &memberlist.Packet{
		Buf:       b,
		From:      net.UDPAddrFromAddrPort(netip.AddrPortFrom(src.Addr().Unmap(), src.Port())),
		Timestamp: time.Now(),
	}
	select {
	case t.packetCh <- packet:
		return true
	default:
		t.overflow.Add(1)
		return false
	}
}

// silence returns for how long nothing has come from any member.
func (t *gossipTransport) silence() time.Duration {
	return time.Since(t.begun) - time.Duration(t.heard.Load())
}

// vouched returns the packet in the content of a datagram, and its sender, if a trusted member has signed it. by is the
// index of the key that has opened it.
func (t *gossipTransport) vouched(content []byte, by int, src netip.Addr) (from wire.MemberID, packet []byte,
	err error,
) {
	from, signature, packet, err := admission.SplitPacket(content)
	if err != nil {
		return from, nil, err
	}
	if !t.admission.Checks() {
		t.noteKey(from, by)
		return from, packet, nil
	}
	key, err := t.admission.Key(from)
	switch {
	case err != nil:
		return from, nil, &streams.UntrustedError{Who: from.Short(), Why: err}
	case !t.cfg.Admit(src):
		return from, nil, streams.ErrCrowded
	case !identity.IsSigned(key, packet, signature, admission.PacketContext):
		return from, nil, &streams.UntrustedError{Who: from.Short(), Why: identity.ErrForged}
	}
	t.noteKey(from, by)
	return from, packet, nil
}

// noteKey records whether a member seals with the first key. Without trust anybody with the secret can claim this of
// anybody, so the record only informs people.
func (t *gossipTransport) noteKey(from wire.MemberID, by int) {
	if by == 0 && t.second.Load() == 0 {
		return // nearly always
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if by == 0 {
		delete(t.bySecond, from)
	} else if len(t.bySecond) < admission.MaxChecked {
		t.bySecond[from] = struct{}{}
	}
	t.second.Store(int32(len(t.bySecond)))
}

// Rekey replaces the secrets. It returns an error, and changes nothing, if there were none or are none now.
func (m *Membership) Rekey(secrets []wire.Secret) error {
	t := m.transport
	if t.seal.Clear != (len(secrets) == 0) {
		return errors.New("a fleet cannot change between a secret and none")
	}
	t.seal.Set(secrets)
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.bySecond)
	t.second.Store(0)
	return nil
}

// Others returns the members whose last gossip was not sealed with the first secret, sorted.
func (m *Membership) Others() []wire.MemberID {
	t := m.transport
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Keys(t.bySecond), wire.MemberID.Compare)
}

// refuse counts and logs a connection that was cut off.
func (t *gossipTransport) refuse(src net.Addr, err error) {
	if t.isClosed() || errors.Is(err, net.ErrClosed) {
		return
	}
	t.count(err)
	switch {
	case errors.Is(err, packets.ErrForeignSeal):
		onForeign(t, src)
	case isUntrusted(err):
		if ok, more := t.untrustedWarn.Allow(time.Now()); ok {
			t.cfg.Log.Warn().Stringer("addr", src).AnErr("reason", err).EmbedObject(more).
				Msg("cut off a connection of a host that has the secret, but no trusted key")
		}
	default:
		if ok, more := t.junkWarn.Allow(time.Now()); ok {
			t.cfg.Log.Info().Stringer("addr", src).AnErr("reason", err).EmbedObject(more).
				Msg("cut off a connection that is not from a wanderd of this version")
		}
	}
}

func isUntrusted(err error) bool {
	_, is := errors.AsType[*streams.UntrustedError](err)
	return is
}

func (t *gossipTransport) count(err error) {
	switch {
	case err == nil:
	case errors.Is(err, packets.ErrForeignSeal):
		t.foreign.Add(1)
	case isUntrusted(err):
		t.untrusted.Add(1)
	case errors.Is(err, streams.ErrCrowded), errors.Is(err, streams.ErrBusy):
		t.crowded.Add(1)
	case errors.Is(err, packets.ErrMalformed):
		t.malformed.Add(1)
	default:
		t.noPreamble.Add(1)
	}
}

// signEvery is the least time between two notes of foreign gossip, so that a flood of it costs nothing.
const signEvery = 10 * time.Second

// onForeign notes foreign gossip, so that its end is known, and warns of it now and then. It is generic, because an
// interface with an address would be allocated for each datagram.
func onForeign[Addr fmt.Stringer](t *gossipTransport, src Addr) {
	now := time.Now()
	if last := t.lastForeign.Load(); now.Sub(last.at) >= signEvery {
		t.lastForeign.Store(&sign{at: now, from: src.String()})
	}
	if ok, more := t.foreignWarn.Allow(now); ok {
		t.cfg.Log.Warn().Stringer("addr", src).EmbedObject(more).Msg(ForeignHint)
	}
}

// ForeignHint explains foreign gossip and its remedy.
const ForeignHint = "gossip from a host that has another secret or version, or is not a wanderd: " +
	"give all members of a fleet the same --secret-file"

func (t *gossipTransport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.advertise.Addr().AsSlice(), int(t.advertise.Port()), nil
}

func (t *gossipTransport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// All errors of WriteToAddress are *net.OpError, because memberlist aborts a probe
// after any other error.
func (t *gossipTransport) WriteToAddress(b []byte, to memberlist.Address) (time.Time, error) {
	dst, err := netip.ParseAddrPort(to.Addr)
	if err == nil && t.isClosed() {
		err = streams.ErrShutdown
	}
	if err == nil && t.answers != nil {
		b, dst = t.answers.Send(b, dst)
	}
	if err == nil && len(b) > 0 {
		err = t.cfg.Send(t.seal.Seal(t.me.SignPacket(b)), dst)
	}
	if err != nil {
		if to.Name != "" && t.unsent != nil && !t.isClosed() {
			t.unsent(to.Name, err)
		}
		return time.Time{}, &net.OpError{Op: "write", Net: "udp", Err: err}
	}
	return time.Now(), nil
}

func (t *gossipTransport) PacketCh() <-chan *memberlist.Packet { return t.packetCh }

func (t *gossipTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (t *gossipTransport) DialAddressTimeout(to memberlist.Address, timeout time.Duration) (net.Conn, error) {
	dst, err := netip.ParseAddrPort(to.Addr)
	if err != nil {
		return nil, err
	}
	g, err := t.streams.Dial(dst, time.Now().Add(timeout), streams.ForGossip)
	if err != nil {
		return nil, err // not a nil *Conn in an interface
	}
	return g, nil
}

func (t *gossipTransport) StreamCh() <-chan net.Conn { return t.streamCh }

// Shutdown ends everything that waits for the network.
func (t *gossipTransport) Shutdown() error { return t.streams.Shutdown() }

// serve hands a connection to memberlist, or answers its question.
func (t *gossipTransport) serve(g *streams.Conn) {
	switch g.Purpose {
	case streams.ForQuestion:
		t.count(t.answerQuestion(g))
	case streams.ForCertificates:
		t.count(t.showCertificates(g))
	case streams.ForGossip:
		select {
		case t.streamCh <- g:
			return // memberlist closes it
		case <-t.closed.Done():
		}
	}
	_ = g.Close()
}
