package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/lab/ports"
	"github.com/wanderd/wanderd/wire"
)

// relay is the network of a fleet: the agents advertise its ports and bind their own, so that every datagram and every
// stream from one to another passes here. It has the fleet's secret, reads the datagrams, and may lose one.
type relay struct {
	codec  *wire.Codec
	byBind map[netip.AddrPort]*port

	mu sync.Mutex
	// loses reports whether a message on its way to a node is lost; nil loses none.
	loses func(to *node, m *wire.Message) bool
}

// port is where the others reach one agent, and the source of what it sends.
type port struct {
	node    *node
	bind    netip.AddrPort
	packets *net.UDPConn
	streams net.Listener
}

// newRelay puts a relay between the nodes of a fleet that has not started.
func newRelay(t testing.TB, f *fleet) *relay {
	t.Helper()
	secrets, err := statedir.ReadSecretFile(f.secret())
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{byBind: make(map[netip.AddrPort]*port)}
	if r.codec, err = wire.NewCodec(key, rand.Reader, secrets[0]); err != nil {
		t.Fatal(err)
	}
	for _, n := range f.nodes {
		n.bind = ports.For(t)
		p := &port{node: n, bind: netip.MustParseAddrPort(n.bind)}
		if p.packets, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(n.addr))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.packets.Close() })
		if p.streams, err = net.Listen("tcp", n.addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.streams.Close() })
		r.byBind[p.bind] = p
	}
	for _, p := range r.byBind {
		go r.relayPackets(p)
		go r.relayStreams(p)
	}
	return r
}

// watch shows every message of the protocol to loses before it goes on, one at a time; the network stands still
// meanwhile.
func (r *relay) watch(loses func(to *node, m *wire.Message) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loses = loses
}

// relayPackets forwards the datagrams for one agent, from the port of their sender. It forwards datagrams to a dead
// agent as well: no sender is told that they were in vain.
func (r *relay) relayPackets(to *port) {
	buf := make([]byte, 1<<16)
	for {
		n, src, err := to.packets.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		from := r.byBind[netip.AddrPortFrom(src.Addr().Unmap(), src.Port())]
		if from == nil {
			from = to // The guard of a hook has a socket of its own.
		}
		if !r.isLost(to.node, buf[:n]) {
			_, _ = from.packets.WriteToUDPAddrPort(buf[:n], to.bind)
		}
	}
}

func (r *relay) isLost(to *node, datagram []byte) bool {
	opened, drop := r.codec.Open(slices.Clone(datagram))
	if drop != 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.loses != nil && r.loses(to, &opened.Message)
}

func (r *relay) relayStreams(to *port) {
	for {
		conn, err := to.streams.Accept()
		if err != nil {
			return
		}
		go relayStream(conn, to.bind)
	}
}

// relayStream copies both ways until both sides have nothing more to say.
func relayStream(caller net.Conn, to netip.AddrPort) {
	defer func() { _ = caller.Close() }()
	called, err := net.Dial("tcp", to.String())
	if err != nil {
		return
	}
	defer func() { _ = called.Close() }()
	var copying sync.WaitGroup
	for _, way := range [][2]net.Conn{{caller, called}, {called, caller}} {
		copying.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			_ = way[1].(*net.TCPConn).CloseWrite()
		})
	}
	copying.Wait()
}
