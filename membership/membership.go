package membership

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// Config configures a member.
type Config struct {
	// Name is this member's name for people: 1 to [identity.MaxName] bytes of printable characters. It should be
	// unique.
	Name string
	// Key signs what this member announces; the hash of its public key is the member's identity. Two agents with the
	// same key sign with it to find out which is the original; see [Membership.Copied]. AtHome is true if the state
	// directory, as far as this agent knows, has not been moved or copied since it was made.
	Key    ed25519.PrivateKey
	AtHome bool
	// Gates are the gates of this member, at most [identity.MaxGates].
	Gates []wire.GateID
	// Addr is the address to which the agent's sockets are bound. Advertise is the address for other members: the zero
	// value means Addr, or an address of the host if Addr is unspecified; port 0 means the port of Addr.
	Addr, Advertise netip.AddrPort
	// Join lists addresses of members, "host" or "host:port", and sources of addresses. They are tried for as long as
	// the agent runs.
	Join []string
	// Remembered are the members of the fleet before the restart. They are tried first.
	Remembered []Remembered
	// Secrets encrypt gossip: the first seals, all open. None means no encryption.
	Secrets []wire.Secret
	// Send sends gossip through the agent's UDP socket, in the agent's envelope: at most [streams.MaxPacket] bytes. It
	// is safe for concurrent use and does not keep payload.
	Send    func(payload []byte, dst netip.AddrPort) error
	Streams Streams
	// Trust decides who may take part; nil means everybody with the secret. Certificate returns this member's
	// certificate for the others; nil if it has none. Admit reports whether the signature of one more datagram from an
	// address may be checked.
	Trust       Trust
	Certificate func() []byte
	Admit       func(netip.Addr) bool
	// Resolve looks up host names; nil means the system's resolver.
	Resolve Resolver
	// Ask asks sources of addresses; nil means the system's resolver for SRV records, and no programs.
	Ask peers.Asker
	// Answer makes the answers to questions of other members; if it is nil, no question is answered.
	Answer Answer
	// Now returns the wall clock, which is compared with the clocks of other members; nil means the system's.
	Now func() time.Time
	Log zerolog.Logger
}

// Stats are counters since the start.
type Stats struct {
	// Malformed counts datagrams and connections that are not gossip. Foreign counts datagrams and connections with
	// another secret: see --secret-file. NoPreamble counts connections without our preamble. Overflow counts datagrams
	// that arrived faster than memberlist reads. Crowded counts connections that were closed because there were too
	// many.
	Malformed, Foreign, NoPreamble, Overflow, Crowded uint64
	// ForeignAt is the time of the last foreign gossip, to ten seconds, ForeignFrom its source address; see
	// [ForeignHint].
	ForeignAt   time.Time
	ForeignFrom string
	// Refused counts refusals of nodes with an invalid name, metadata, address or version. Untrusted counts datagrams
	// and connections of hosts without a trusted key.
	Refused, Untrusted uint64
	// Clock counts answers of members whose clock was off by more than a minute, SameName pairs of members with one
	// name, and SameKey answers of another agent with this one's key.
	Clock, SameName, SameKey uint64
	// LogLost counts lines of memberlist's log that found the queue full.
	LogLost uint64
}

// Membership is this agent's membership in the fleet.
type Membership struct {
	log        zerolog.Logger
	list       *memberlist.Memberlist
	transport  *gossipTransport
	admission  *admission.Admission
	broadcasts *broadcast.Store
	mailbox    *mailbox
	peers      *peers.Table
	joiner     *peers.Joiner
	clock      *clockWatch
	duplicates *peers.DuplicateWatch
	adapter    *logAdapter
	aloneWarn  timing.Throttle

	// changed signals that this member's metadata must be gossiped; reconsidered signals that other keys are trusted
	// now. The capacity of both is one.
	changed, reconsidered chan struct{}
	// fresh signals that there is news to pass on; its capacity is one. reconnecting is true while this member hears
	// nobody.
	fresh        chan struct{}
	reconnecting atomic.Bool
	// stop ends all work; kept is closed when memberlist's callbacks are no longer handled.
	stop    context.CancelFunc
	kept    chan struct{}
	working sync.WaitGroup

	// updating serialises calls of memberlist's UpdateNode. It is no mutex, because a goroutine that waits for a mutex
	// stops virtual time. life serialises Leave and Shutdown.
	updating chan struct{}
	life     sync.Mutex
	left     bool
	down     bool
}

const (
	// gatherFor is how long to wait for further callbacks before a view is made.
	gatherFor = 10 * time.Millisecond
	// updateTimeout is how long to wait until a change of metadata is gossiped. It is queued in any case.
	updateTimeout = time.Millisecond
	// aloneWarnEvery is the least time between two warnings that no other member is left.
	aloneWarnEvery = time.Minute
	// reclaimAfter is how long a member must have been dead before another address of it is accepted.
	reclaimAfter = 5 * time.Second
)

// Start begins to gossip. It fails if the configuration is invalid. It does not wait for other members: they appear in
// the views.
func Start(cfg Config) (*Membership, error) {
	if err := identity.CheckName(cfg.Name); err != nil {
		return nil, fmt.Errorf("name of this member: %w", err)
	}
	if len(cfg.Key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("private key of %d bytes, want %d", len(cfg.Key), ed25519.PrivateKeySize)
	}
	public := cfg.Key.Public().(ed25519.PublicKey)
	me, err := peers.NewSelf(cfg.Name, public, cfg.Gates)
	if err != nil {
		return nil, err
	}
	targets, err := peers.ParseTargets(cfg.Join)
	if err != nil {
		return nil, err
	}
	if me.Addr, err = peers.Advertised(cfg.Addr, cfg.Advertise); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	seal := streams.NewSeal(cfg.Secrets)
	cfg.Secrets = nil // the secrets may be replaced, so they are kept only in the seal
	return start(cfg, me, seal, targets)
}

// start wires the parts together and starts them.
func start(cfg Config, me Member, seal *streams.Seal, targets map[string]peers.Target) (*Membership, error) {
	ctx, cancel := context.WithCancel(context.Background())
	mc := pace(me.Addr.Addr().IsLoopback())
	if seal.Clear {
		mc.IndirectChecks = 0 // see Filter
	}
	m := &Membership{
		log: cfg.Log, stop: cancel, admission: admission.New(cfg.Trust), clock: newClockWatch(cfg.Now, cfg.Log),
		aloneWarn: timing.Throttle{Every: aloneWarnEvery}, changed: make(chan struct{}, 1),
		reconsidered: make(chan struct{}, 1),
		fresh:        make(chan struct{}, 1), updating: make(chan struct{}, 1), kept: make(chan struct{}),
	}
	self := &peers.Config{
		Key: cfg.Key, AtHome: cfg.AtHome, Gates: cfg.Gates, Addr: cfg.Addr, Resolve: cfg.Resolve,
		Ask:   cfg.Ask,
		Judge: m.admission.Judge, Log: cfg.Log,
		IsForgotten: func(id wire.MemberID) bool { return m.broadcasts.IsForgotten(id) },
	}
	m.duplicates = peers.NewDuplicateWatch(self, &me)
	node := identity.NodeName(me.Name, me.ID)
	m.mailbox = newMailbox(node, me.ID, me.Addr.Addr().IsLoopback(), m.admission)
	// This is the longest time for which a member of a large fleet stays suspect.
	suspectFor := 4 * time.Duration(mc.SuspicionMult*mc.SuspicionMaxTimeoutMult) * mc.ProbeInterval
	m.peers = peers.New(self, me, suspectFor)
	m.peers.Recall(cfg.Remembered, time.Now())
	who := admission.NewIntroducer(me.Name, cfg.Key, cfg.Certificate)
	m.broadcasts = broadcast.NewStore(cfg.Gates, m.admission.Judge, func() int {
		return len(m.peers.Current().Members)
	}, m.fresh)
	m.transport = newGossipTransport(&cfg, who, me.Addr, seal, m.admission, func(id wire.MemberID) (*Member, bool) {
		return m.peers.Current().Lookup(id)
	})
	m.adapter = newLogAdapter(cfg.Log, m.mailbox.suspect, m.haveSmallNews)
	m.adapter.unanswered, m.adapter.onlyTCP = m.mailbox.unanswered, m.mailbox.onlyTCP
	m.transport.unsent = m.mailbox.unsent

	mc.Name, mc.Transport = node, m.transport
	mc.Logger = log.New(m.adapter, "", 0)
	mc.Delegate, mc.Ping = delegate{m}, delegate{m}
	mc.Alive, mc.Events, mc.Conflict = m.mailbox, m.mailbox, m.mailbox

	m.working.Go(func() { m.adapter.run(ctx.Done()) })
	var err error
	if m.list, err = memberlist.Create(mc); err != nil {
		cancel()
		err = errors.Join(fmt.Errorf("starting gossip: %w", err), m.transport.Shutdown())
		m.working.Wait()
		return nil, err
	}
	m.joiner = peers.NewJoiner(ctx, self, m.list, m.peers, m.working.Go)
	if cfg.Trust != nil {
		m.working.Go(func() { m.verifyOthers(ctx) })
	}
	m.working.Go(func() {
		defer close(m.kept)
		m.keep(ctx)
	})
	m.working.Go(func() { m.spread(ctx) })
	m.joiner.Start()
	m.joiner.Follow(targets)
	if cfg.Addr.Addr().IsUnspecified() && !cfg.Advertise.Addr().IsValid() {
		cfg.Log.Info().Stringer("addr", me.Addr).
			Msg("this address is advertised to other members; if they cannot reach it, set another with --advertise")
	}
	return m, nil
}

// pace returns memberlist's configuration: its LAN defaults, with shorter intervals if all members are on this host.
func pace(loopback bool) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.PushPullInterval = 15 * time.Second
	c.GossipInterval = gossipEvery
	// If a member misses all packets with some news, it hears the news only in a full sync, up to 20 s later.
	// memberlist's default of 4 sends eight packets for each member of a fleet below 100, which miss one member in
	// 3,000; twelve packets miss one in 160,000.
	c.RetransmitMult = 6
	if loopback {
		c.PushPullInterval = 5 * time.Second
		c.SuspicionMult = 3
		c.TCPTimeout = 5 * time.Second
	}
	c.DeadNodeReclaimTime = reclaimAfter
	c.EnableCompression = false
	c.UDPBufferSize = streams.MaxPacket - streams.SealedOverhead - admission.SignedHeader - packets.CrcHeader
	return c
}

// keep handles memberlist's callbacks until ctx is done.
func (m *Membership) keep(ctx context.Context) {
	for {
		select {
		case <-m.mailbox.ring:
			if !timing.Sleep(ctx, gatherFor) {
				return
			}
			m.apply(ctx, m.mailbox.empty())
		case <-m.changed:
			m.peers.Publish()
			m.update(updateTimeout)
		case <-m.reconsidered:
			m.peers.JudgeAll(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// Reconsider judges all members again, because other keys are trusted now, or time has passed. Members that are no
// longer trusted are not in the next view. It does not block.
func (m *Membership) Reconsider(changed bool) {
	if changed {
		m.admission.Reconsider()
	}
	timing.Signal(m.reconsidered)
}

func (m *Membership) apply(ctx context.Context, news peers.Reports) {
	if len(news.Seen)+len(news.Suspects) > 0 {
		m.haveSmallNews()
	}
	if m.transport.silence() >= deafAfter {
		m.working.Go(func() { m.reconnect(ctx) })
	}
	before := len(m.peers.Current().Members)
	m.peers.Apply(news, time.Now())
	m.announce(m.peers.Outbid(news.Own))
	switch after := len(m.peers.Current().Members); {
	case before == 1 && after > 1:
		m.joiner.Unsettle()
	case before > 1 && after == 1:
		if ok, more := m.aloneWarn.Allow(time.Now()); ok {
			m.log.Warn().EmbedObject(more).
				Msg("no other member is left; this one continues alone and keeps trying to reach them")
		}
	}
	if news.Duplicate.IsValid() {
		m.working.Go(func() { m.duplicates.Meet(news.Duplicate, m.joiner.Contact) })
	}
	if news.Namesake.IsValid() {
		m.working.Go(func() { m.askNamesake(news.Namesake) })
	}
}

// update gossips this member's metadata and waits at most timeout until that is done.
func (m *Membership) update(timeout time.Duration) {
	m.updating <- struct{}{}
	defer func() { <-m.updating }()
	// An error means that it takes longer. The update is queued in any case, and full syncs carry it too.
	_ = m.list.UpdateNode(timeout)
	timing.Signal(m.fresh)
}

// Deliver handles a gossip datagram from src, without the agent's envelope. It does not keep payload and never blocks.
// It drops and counts datagrams that are malformed, sealed with another secret, or too many, and reports whether it has
// taken the datagram.
func (m *Membership) Deliver(payload []byte, src netip.AddrPort) bool {
	return m.transport.deliver(payload, src)
}

// Views returns a channel of capacity one with the newest view that has not been received. The first view is there at
// once, and contains this member only. The channel is never closed.
func (m *Membership) Views() <-chan *View { return m.peers.Views }

// Announce tells the others that this member has met a token of gate. It does not block.
func (m *Membership) Announce(gate wire.GateID) {
	m.announce(m.peers.Announce(gate))
}

// Declare tells the others by what, not zero, this member takes part in gate: those that declare something else take
// no part with it. It does not block.
func (m *Membership) Declare(gate wire.GateID, what uint64) {
	m.announce(m.peers.Declare(gate, what))
}

// Stand tells the others where this member stands in gate; zero is nothing. It does not block.
func (m *Membership) Stand(gate wire.GateID, where uint8) {
	m.announce(m.peers.Stand(gate, where))
}

// announce arranges that this member's metadata is gossiped if it has changed. It does not block.
func (m *Membership) announce(changed bool) {
	if changed {
		timing.Signal(m.changed)
	}
}

// Copied returns a channel that receives one value if another agent with this one's key is the original: that agent's
// address, or the zero value if that is unknown. This agent must then stop without Leave, because Leave would announce
// that the original leaves.
func (m *Membership) Copied() <-chan netip.AddrPort { return m.duplicates.Copied }

// All returns all known members, including this one and members that left or failed, sorted by identity.
func (m *Membership) All() []Member {
	all := m.peers.All(time.Now())
	for i := range all {
		if s := all[i].State; s == StateAlive || s == StateSuspect || s == StateFailed {
			all[i].SilentSince = m.mailbox.probes.silentSince(identity.NodeName(all[i].Name, all[i].ID))
		}
	}
	return all
}

// Stats returns the counters.
func (m *Membership) Stats() Stats {
	t := m.transport
	m.mailbox.mu.Lock()
	refused := m.mailbox.refusals
	m.mailbox.mu.Unlock()
	foreign := t.lastForeign.Load()
	return Stats{
		ForeignAt: foreign.at, ForeignFrom: foreign.from,
		Malformed: t.malformed.Load(), Foreign: t.foreign.Load(), NoPreamble: t.noPreamble.Load(),
		Overflow: t.overflow.Load(), Crowded: t.crowded.Load(),
		Refused: refused, Untrusted: t.untrusted.Load(), Clock: m.clock.off.Load(), SameName: m.peers.SameNames.Load(),
		SameKey: m.duplicates.Found.Load(),
		LogLost: m.adapter.lost.Load(),
	}
}

// Shutdown ends gossip and closes the Streams. Without Leave before it, the others will see this member as failed.
func (m *Membership) Shutdown() error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.down {
		return nil
	}
	m.down = true
	m.stop()
	err := m.list.Shutdown()
	m.working.Wait()
	return err
}

// Remembered returns the members that this agent should try after a restart, at most 256. It is safe for concurrent
// use.
func (m *Membership) Remembered() []Remembered { return m.peers.Remembered() }

// askNamesake pings addr for this agent's own node name. If a duplicate answers, the two exchange claims. Otherwise the
// fleet still has a former address of this agent.
func (m *Membership) askNamesake(addr netip.AddrPort) {
	if err := m.ping(&Member{Name: m.peers.Me.Name, ID: m.peers.Self, Addr: addr}); err != nil {
		m.log.Debug().Stringer("addr", addr).Msg("the fleet still has a former address of this member")
		m.joiner.Unsettle()
		return
	}
	m.duplicates.Met(addr)
	m.duplicates.Meet(addr, m.joiner.Contact)
}

// Outsiders returns the hosts that have been heard since a time and have the secret, but no trusted key.
func (m *Membership) Outsiders(since time.Time) []Outsider {
	return m.transport.streams.Outsiders.Since(since)
}
