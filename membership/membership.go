package membership

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/wire"
)

// Config is what a member needs to find others.
type Config struct {
	// Name is what people call this member: 1 to [MaxName] bytes that can be printed. It should be unique.
	Name string
	// Key is the public key whose hash is the member's identity.
	Key ed25519.PublicKey
	// Private is the other half of Key. By it, this agent and another one with the same key find out which is the original; see
	// [Membership.Copied]. With nil, such a twin is only reported. AtHome says that the state directory has not been moved or copied since it
	// was made, as far as this agent knows.
	Private ed25519.PrivateKey
	AtHome  bool
	// Gates are the gates this member takes part in, at most [MaxGates].
	Gates []wire.GateID
	// Addr is what Packets and Streams are bound to. Advertise is what other members are told: the zero value means Addr,
	// or an address of the host where Addr is unspecified; port 0 means Addr's.
	Addr, Advertise netip.AddrPort
	// Join lists addresses of members, "host" or "host:port", which are tried for as long as the agent runs.
	Join []string
	// Remembered are members of an earlier life's fleet, which are asked first.
	Remembered []Remembered
	// GossipKey encrypts gossip: 16, 24 or 32 bytes, the same for the whole fleet; nil leaves it in the clear.
	GossipKey []byte
	Packets   PacketWriter
	Streams   Streams
	// Resolve looks names up; nil asks the system.
	Resolve Resolver
	// Now is the wall clock that is compared with other members'; nil asks the system.
	Now func() time.Time
	Log zerolog.Logger
}

// Stats counts since the start what may be worth a look.
type Stats struct {
	// Malformed and Foreign are datagrams and connections that are no gossip, or not this fleet's: see --secret-file.
	// Strangers are connections that do not begin as ours do. Overflow are datagrams that came faster than memberlist works.
	Malformed, Foreign, Strangers, Overflow uint64
	// ForeignAt is when the log last warned of Foreign, ForeignFrom where that came from; see [ForeignHint].
	ForeignAt   time.Time
	ForeignFrom string
	// Refused is how often a node was kept out because what it says about itself does not hold.
	Refused uint64
	// Clock is how often a member's clock was more than a minute off, SameName how often two members had one name, and
	// SameKey how often another agent with this one's key answered.
	Clock, SameName, SameKey uint64
	// LogLost is how many lines of memberlist's log could not be written in time.
	LogLost uint64
}

// Membership is this agent's membership in the fleet.
type Membership struct {
	log       zerolog.Logger
	node      string
	list      *memberlist.Memberlist
	transport *gossipTransport
	mailbox   *mailbox
	roster    *roster
	joiner    *joiner
	clock     *clockWatch
	twins     *twinWatch
	adapter   *logAdapter

	// changed says that this member's own metadata has to be gossiped; it has room for one.
	changed chan struct{}
	stop    context.CancelFunc
	working sync.WaitGroup

	// updating has room for one that calls memberlist's UpdateNode; it is no mutex, which would hold up virtual time while the other
	// waits for its timeout. life serialises Leave and Shutdown.
	updating chan struct{}
	life     sync.Mutex
	left     bool
	down     bool
}

const (
	// gatherFor is how long to wait for more callbacks before a view is made.
	gatherFor = 10 * time.Millisecond
	// updateTimeout is how long to wait for a change of metadata to be gossiped. It is queued in any case.
	updateTimeout = time.Millisecond
	// reclaimAfter is how long a member must have been dead before it is believed to be at another address.
	reclaimAfter = 5 * time.Second
)

// Start begins to gossip. It fails if the configuration cannot work; whether anybody answers is seen in the views.
func Start(cfg Config) (*Membership, error) {
	if err := validName(cfg.Name); err != nil {
		return nil, fmt.Errorf("name of this member: %w", err)
	}
	meta, err := newMetadata(cfg.Key, cfg.Gates)
	if err != nil {
		return nil, err
	}
	targets := make([]target, len(cfg.Join))
	for i, s := range cfg.Join {
		if targets[i], err = parseTarget(s); err != nil {
			return nil, err
		}
	}
	seal, err := newSeal(cfg.GossipKey)
	if err != nil {
		return nil, err
	}
	addr, err := advertised(cfg.Addr, cfg.Advertise)
	if err != nil {
		return nil, err
	}
	if cfg.Resolve == nil {
		cfg.Resolve = systemResolver
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	me := Member{ID: wire.MemberIDOf(cfg.Key), Name: cfg.Name, Key: cfg.Key, Addr: addr, gates: meta.gates}
	return start(cfg, me, meta, seal, targets)
}

// start wires the parts together and sets them going.
func start(cfg Config, me Member, meta metadata, seal *seal, targets []target) (*Membership, error) {
	ctx, cancel := context.WithCancel(context.Background())
	mc := pace(me.Addr.Addr().IsLoopback())
	m := &Membership{
		log: cfg.Log, node: nodeName(me.Name, me.ID), changed: make(chan struct{}, 1), updating: make(chan struct{}, 1), stop: cancel,
		clock: newClockWatch(cfg.Now, cfg.Log),
		twins: newTwinWatch(&cfg, &me),
	}
	m.mailbox = newMailbox(m.node, me.Addr.Addr().IsLoopback())
	m.roster = newRoster(me, meta, cfg.Gates, suspicion(mc), cfg.Log)
	m.roster.recall(cfg.Remembered, time.Now())
	m.transport = newGossipTransport(me.Addr, cfg.Packets, cfg.Streams, seal, cfg.Log)
	m.adapter = newLogAdapter(cfg.Log, func(node string) { m.mailbox.suspect(node, true) }, m.transport.foreignStream)

	mc.Name, mc.Transport, mc.SecretKey = m.node, m.transport, cfg.GossipKey
	mc.Logger = log.New(m.adapter, "", 0)
	mc.Delegate, mc.Ping = delegate{m}, pings{m}
	mc.Alive, mc.Events, mc.Conflict = m.mailbox, m.mailbox, m.mailbox

	m.working.Go(func() { m.adapter.run(ctx.Done()) })
	var err error
	if m.list, err = memberlist.Create(mc); err != nil {
		cancel()
		err = errors.Join(fmt.Errorf("starting gossip: %w", err), m.transport.Shutdown())
		m.working.Wait()
		return nil, err
	}
	m.joiner = &joiner{
		list: m.list, roster: m.roster, bound: cfg.Addr, lookup: cfg.Resolve, log: cfg.Log,
		spawn: m.working.Go, unsettled: make(chan struct{}, 1), mirrors: make(map[netip.AddrPort]time.Time),
		refusals: make(map[string]Refusal),
	}
	m.working.Go(func() { m.keep(ctx) })
	m.working.Go(func() { m.joiner.heal(ctx) })
	m.working.Go(func() { m.joiner.settle(ctx) })
	for _, t := range targets {
		m.working.Go(func() { m.joiner.seek(ctx, t) })
	}
	if cfg.Addr.Addr().IsUnspecified() && !cfg.Advertise.Addr().IsValid() {
		cfg.Log.Info().Stringer("addr", me.Addr).
			Msg("other members are told this address; if they cannot reach it, say another with --advertise")
	}
	return m, nil
}

// pace is memberlist's configuration: its LAN defaults, made quicker where all members are on this host.
func pace(loopback bool) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.PushPullInterval = 15 * time.Second
	if loopback {
		c.GossipInterval = 100 * time.Millisecond
		c.PushPullInterval = 5 * time.Second
		c.SuspicionMult = 3
		c.TCPTimeout = 5 * time.Second
	}
	c.DeadNodeReclaimTime = reclaimAfter
	c.EnableCompression = false
	// memberlist adds up to 5 bytes to what it fills.
	c.UDPBufferSize = MaxPacket - 5
	return c
}

// suspicion is the longest that a member of a large fleet stays suspect.
func suspicion(c *memberlist.Config) time.Duration {
	return 4 * time.Duration(c.SuspicionMult*c.SuspicionMaxTimeoutMult) * c.ProbeInterval
}

// keep works on what memberlist has called back with, until ctx is done.
func (m *Membership) keep(ctx context.Context) {
	for {
		select {
		case <-m.mailbox.ring:
			if !sleep(ctx, gatherFor) {
				return
			}
			m.apply(m.mailbox.empty())
		case addr := <-m.twins.seen:
			m.working.Go(func() { m.twins.meet(addr, m.sync) })
		case <-m.changed:
			m.roster.publish()
			m.update(updateTimeout)
		case <-ctx.Done():
			return
		}
	}
}

func (m *Membership) apply(news mail) {
	before := len(m.roster.view.Load().Members)
	m.roster.apply(news, time.Now())
	switch after := len(m.roster.view.Load().Members); {
	case before == 1 && after > 1:
		m.joiner.unsettle()
	case before > 1 && after == 1:
		m.log.Warn().Msg("no other member is left; this one goes on alone and keeps looking for them")
	}
	for _, s := range news.seen {
		if s.told.id == m.roster.self && !s.gone && s.addr != m.twins.addr {
			m.working.Go(func() { m.twins.meet(s.addr, m.sync) })
		}
	}
	if news.namesake.IsValid() {
		m.working.Go(func() { m.twins.ask(news.namesake, m.pingMyself, m.sync, m.joiner.unsettle) })
	}
}

// pingMyself returns nil if somebody at addr answers to this member's own node name.
func (m *Membership) pingMyself(addr netip.AddrPort) error {
	_, err := m.list.Ping(m.node, net.UDPAddrFromAddrPort(addr))
	return err
}

// sync exchanges everything with whoever is at addr.
func (m *Membership) sync(addr netip.AddrPort) error {
	_, err := m.list.Join([]string{addr.String()})
	return err
}

// update gossips this member's metadata and waits for that, at most for timeout.
func (m *Membership) update(timeout time.Duration) {
	m.updating <- struct{}{}
	defer func() { <-m.updating }()
	// The error says that it takes longer; the update is queued in any case, and carried by full syncs besides.
	_ = m.list.UpdateNode(timeout)
}

func (m *Membership) onPing(n *memberlist.Node, rtt time.Duration, payload []byte) {
	name, id, err := parseNodeName(n.Name)
	if err != nil {
		return
	}
	addr, err := addrOf(n)
	if err != nil {
		return
	}
	m.mailbox.suspect(n.Name, false)
	if id == m.roster.self {
		m.twins.probed(addr)
		return
	}
	m.clock.heard(name, addr, rtt, payload)
}

// Deliver takes a gossip datagram that came from src, without the agent's envelope. It copies what it keeps and never
// blocks: what is malformed, sealed with another secret or too much is dropped and counted.
func (m *Membership) Deliver(payload []byte, src netip.AddrPort) { m.transport.deliver(payload, src) }

// Views returns a channel with room for one view: the newest that has not been received. The first is there at once, and
// has this member alone. It is never closed.
func (m *Membership) Views() <-chan *View { return m.roster.views }

// Announce tells the others that this member has met a token of gate. It does not block.
func (m *Membership) Announce(gate wire.GateID) {
	if !m.roster.announce(gate) {
		return
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Copied returns a channel that has news once: another agent runs with this one's key, at the address if that is known, and is the
// original. This agent must stop, without Leave, by which it would say goodbye in the other's name.
func (m *Membership) Copied() <-chan netip.AddrPort { return m.twins.copied }

// All returns everybody who is known, this member and those that left or failed included, sorted by identity.
func (m *Membership) All() []Member { return m.roster.all(time.Now()) }

// Refusals returns the addresses to join that do not answer, if no other member is known.
func (m *Membership) Refusals() []Refusal { return m.joiner.refusing() }

// Stats returns the counters.
func (m *Membership) Stats() Stats {
	t := m.transport
	m.mailbox.mu.Lock()
	refused := m.mailbox.refusals
	m.mailbox.mu.Unlock()
	var foreign sign
	if last := t.lastForeign.Load(); last != nil {
		foreign = *last
	}
	return Stats{
		ForeignAt: foreign.at, ForeignFrom: foreign.from,
		Malformed: t.malformed.Load(), Foreign: t.foreign.Load(), Strangers: t.strangers.Load(), Overflow: t.overflow.Load(),
		Refused: refused, Clock: m.clock.off.Load(), SameName: m.roster.duplicates.Load(), SameKey: m.twins.found.Load(),
		LogLost: m.adapter.lost.Load(),
	}
}

// Leave tells the others that this member goes on purpose, and returns when some have heard it, at the latest after
// timeout. It looks for nobody any more. Call Shutdown afterwards.
func (m *Membership) Leave(timeout time.Duration) error {
	m.life.Lock()
	defer m.life.Unlock()
	if m.left || m.down {
		return nil
	}
	m.left = true
	m.stop()
	deadline := time.Now().Add(timeout)
	m.roster.leave()
	m.update(max(timeout/2, updateTimeout))
	if err := m.list.Leave(max(time.Until(deadline), updateTimeout)); err != nil {
		return fmt.Errorf("leaving the fleet: %w", err)
	}
	return nil
}

// Shutdown ends gossip and closes the Streams. Without Leave before it, the others will find that this member has failed.
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
