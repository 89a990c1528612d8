package memnet

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/transport"
)

// Options are the faults of the network. The zero value has no latency and no loss.
type Options struct {
	// Seed seeds the generator of losses and latencies.
	Seed uint64
	// Latency is the least one-way delay, and Jitter the most that is added to it for a datagram. Jitter reorders.
	Latency, Jitter time.Duration
	// Loss is the probability, from 0 to 1, that a datagram is lost.
	Loss float64
}

// Network connects endpoints. Its methods are safe for concurrent use.
type Network struct {
	// mu guards everything in this package: endpoints, datagrams in flight, and streams.
	mu        sync.Mutex
	options   Options
	rng       *rand.Rand
	endpoints map[netip.AddrPort]*endpoint
	streams   []*stream
	cut       map[link]bool
	filter    func(src, dst netip.AddrPort, payload []byte) bool
	// ephemeral is the last port that the network chose for the end of a stream.
	ephemeral uint16
}

// link is an unordered pair of endpoints, the lower address first.
type link [2]netip.AddrPort

func linkOf(a, b netip.AddrPort) link {
	if b.Compare(a) < 0 {
		a, b = b, a
	}
	return link{a, b}
}

// New returns a network without endpoints.
func New(o Options) *Network {
	return &Network{
		options:   o,
		rng:       rand.New(rand.NewPCG(o.Seed, 0)),
		endpoints: make(map[netip.AddrPort]*endpoint),
		cut:       make(map[link]bool),
		ephemeral: 40000,
	}
}

// Endpoint binds addr. An address that was closed or has crashed can be bound again. Endpoint panics if addr is in use,
// because the test is then wrong.
func (n *Network) Endpoint(addr netip.AddrPort) *transport.Endpoint {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.endpoints[addr]; e != nil && (!e.packetsClosed || !e.streamsClosed) {
		panic("memnet: " + addr.String() + " is in use")
	}
	e := &endpoint{net: n, addr: addr, arrived: sync.NewCond(&n.mu), dialled: sync.NewCond(&n.mu)}
	n.endpoints[addr] = e
	return &transport.Endpoint{Packets: packets{e}, Streams: streams{e}, Addr: addr}
}

// SetFilter drops every datagram that is sent from now on and for which pass returns false; nil drops none. It comes
// before the random losses. It must not keep or change payload, and must not call the network.
func (n *Network) SetFilter(pass func(src, dst netip.AddrPort, payload []byte) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.filter = pass
}

// Partition cuts every endpoint of one group from every endpoint of another, in both directions: datagrams between them
// are lost, including those in flight, and streams stall. Endpoints in no group keep all their links.
func (n *Network) Partition(groups ...[]netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, group := range groups {
		for _, other := range groups[i+1:] {
			for _, a := range group {
				for _, b := range other {
					n.cut[linkOf(a, b)] = true
				}
			}
		}
	}
}

// Heal undoes every Partition. Data that was written to stalled streams arrives.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
	n.wakeAll()
}

// Crash ends the endpoint at addr like the death of its process: its sockets are gone, and the other ends of its
// streams are reset at once.
func (n *Network) Crash(addr netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.endpoints[addr]; e != nil {
		e.closePackets()
		e.closeStreams()
	}
	for _, s := range n.streams {
		if s.ends[0].endpoint == addr || s.ends[1].endpoint == addr {
			s.reset()
		}
	}
	n.wakeAll()
}

// wakeAll makes all waiting goroutines check their condition again.
func (n *Network) wakeAll() {
	for _, e := range n.endpoints {
		e.arrived.Broadcast()
		e.dialled.Broadcast()
	}
	for _, s := range n.streams {
		s.changed.Broadcast()
	}
}

// waitUntil waits on c, whose lock is held, until it is signalled or the time is t; the zero t means no limit.
func waitUntil(c *sync.Cond, t time.Time) {
	if t.IsZero() {
		c.Wait()
		return
	}
	timer := time.AfterFunc(time.Until(t), func() {
		c.L.Lock()
		defer c.L.Unlock()
		c.Broadcast()
	})
	defer timer.Stop()
	c.Wait()
}

// sooner returns the earlier of two times. The zero time means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
