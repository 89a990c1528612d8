package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// inbound is a parsed message whose signature has not been checked.
type inbound struct {
	message wire.Unverified
	src     netip.AddrPort
	// dst is the local address to which it came; the answer leaves from it.
	dst netip.Addr
}

// longestDatagram is the longest accepted datagram, in bytes: gossip is longer than our own messages. The buffer has one byte more, to
// detect truncation.
const longestDatagram = 1500

// read dispatches datagrams until the socket is closed: gossip to membership, our own messages to the loop, the rest to the
// counters. It does not allocate for junk.
func (a *Agent) read() error {
	buf := make([]byte, longestDatagram+1)
	for {
		n, src, dst, err := a.endpoint.Packets.ReadFrom(buf)
		if err != nil {
			return err
		}
		a.sort(buf[:n], src, dst)
	}
}

// sort handles one datagram with the checks that need no state of the loop.
func (a *Agent) sort(datagram []byte, src netip.AddrPort, dst netip.Addr) {
	if len(datagram) > longestDatagram {
		a.drops.add(wire.DropSize, src)
		return
	}
	class, payload, drop := wire.Classify(datagram)
	if drop != 0 {
		a.drops.add(drop, src)
		return
	}
	var digest uint64
	if a.duplicates != nil {
		if digest = a.duplicates.digest(datagram); a.duplicates.find(digest) != nil {
			a.drops.add(wire.DropDuplicate, src)
			return
		}
	}
	if class == wire.ClassGossip {
		if a.members.Deliver(payload, src) && a.duplicates != nil {
			a.duplicates.add(digest, struct{}{})
		}
		return
	}
	in := inbound{src: src, dst: dst}
	if in.message, drop = a.codec.Load().Open(datagram); drop != 0 {
		a.drops.add(drop, src)
		return
	}
	if a.duplicates != nil {
		a.duplicates.add(digest, struct{}{})
	}
	if !a.queueing.admit(src.Addr(), policy.Time(time.Since(a.started))) {
		a.drops.add(wire.DropRate, src)
		return
	}
	select {
	case a.inbound <- in:
	default:
		a.drops.add(wire.DropOverload, src)
	}
}

// onInbound does the checks that need the loop's state, the signature last, and passes the message to its gate.
func (a *Agent) onInbound(in *inbound) {
	m := &in.message.Message
	g := a.byGate[m.Gate]
	switch {
	case g == nil:
		a.drops.add(wire.DropGate, in.src)
		return
	case m.To != a.self:
		a.drops.add(wire.DropAddressee, in.src)
		return
	case !g.Family().Speaks(m):
		a.drops.addForeign(m, g.Family(), in.src)
		return
	case !g.Family().WellFormed(m):
		a.drops.add(wire.DropMalformed, in.src)
		return
	}
	now := a.clock.Now().Time
	offers := g.Family().Kinds.Part(m.Kind) == policy.Offers && m.Exchange != 0
	sender, ok := a.view.Lookup(m.From)
	switch {
	case !ok || !sender.Has(m.Gate): // who speaks of a token is in its gate
		a.drops.add(wire.DropStranger, in.src)
		return
	case offers && a.offers.isOld(m.Exchange, now, offeredFor(g.SaveWithin())):
		a.drops.add(wire.DropDuplicate, in.src)
		return
	case !g.Expects(m):
		a.drops.add(wire.DropUnexpected, in.src)
		return
	case !a.senders.admit(m.From, sender.Addr, in.src, now):
		a.drops.add(wire.DropRate, in.src)
		return
	case !in.message.Verify(sender.Key):
		a.drops.add(wire.DropSignature, in.src)
		return
	}
	a.senders.cameTo(m.From, in.src, in.dst, now)
	if offers {
		a.offers.saw(m.Exchange, now)
	}
	g.Receive(m)
}

// sendGossip sends a datagram of memberlist's in our envelope.
func (a *Agent) sendGossip(payload []byte, dst netip.AddrPort) error {
	datagram := wire.AppendGossip(make([]byte, 0, len(payload)+wire.EnvelopeSize), payload)
	return a.endpoint.Packets.WriteTo(datagram, netip.Addr{}, dst)
}
