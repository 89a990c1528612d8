package memnet

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// inboxSize is how many datagrams can wait for a reader, as in a socket's receive buffer; further ones are lost.
const inboxSize = 1024

// endpoint is the two sockets at one address.
type endpoint struct {
	net  *Network
	addr netip.AddrPort

	inbox         []datagram // in the order in which they arrive
	arrived       *sync.Cond
	packetsClosed bool

	backlog       []*conn
	dialled       *sync.Cond
	streamsClosed bool
}

type datagram struct {
	due     time.Time
	src     netip.AddrPort
	payload []byte
}

// packets are the transport.Packets of an endpoint.
type packets struct{ *endpoint }

func (p packets) ReadFrom(buf []byte) (int, netip.AddrPort, netip.Addr, error) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	for {
		if p.packetsClosed {
			return 0, netip.AddrPort{}, netip.Addr{}, p.failed("read", net.ErrClosed)
		}
		var due time.Time
		if len(p.inbox) > 0 {
			due = p.inbox[0].due
			if !due.After(time.Now()) {
				d := p.inbox[0]
				p.inbox = slices.Delete(p.inbox, 0, 1)
				if p.net.cut[linkOf(d.src, p.addr)] {
					continue
				}
				return copy(buf, d.payload), d.src, p.addr.Addr(), nil
			}
		}
		waitUntil(p.arrived, due)
	}
}

// WriteTo ignores src, because an endpoint has one address.
func (p packets) WriteTo(b []byte, _ netip.Addr, dst netip.AddrPort) error {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	if p.packetsClosed {
		return p.failed("write", net.ErrClosed)
	}
	if f := p.net.filter; f != nil && !f(p.addr, dst, b) {
		return nil
	}
	p.net.send(p.addr, dst, b)
	return nil
}

func (p packets) Close() error {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.closePackets()
	return nil
}

func (e *endpoint) closePackets() {
	e.packetsClosed = true
	e.inbox = nil
	e.arrived.Broadcast()
}

func (e *endpoint) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Addr: net.UDPAddrFromAddrPort(e.addr), Err: err}
}

// send draws loss and delay of a datagram. It always draws the same number of values, so one more cut or endpoint does
// not change the draws of later datagrams.
func (n *Network) send(src, dst netip.AddrPort, b []byte) {
	lost := n.rng.Float64() < n.options.Loss
	late := time.Duration(n.rng.Float64() * float64(n.options.Jitter))
	to := n.endpoints[dst]
	if lost || to == nil || to.packetsClosed || n.cut[linkOf(src, dst)] || len(to.inbox) >= inboxSize {
		return
	}
	d := datagram{due: time.Now().Add(n.options.Latency + late), src: src, payload: slices.Clone(b)}
	at, _ := slices.BinarySearchFunc(to.inbox, d, func(o, d datagram) int { return cmp.Or(o.due.Compare(d.due), -1) })
	to.inbox = slices.Insert(to.inbox, at, d)
	to.arrived.Broadcast()
}
