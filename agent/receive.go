package agent

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// inbound is a parsed message whose signature has not been checked.
type inbound struct {
	message wire.Unverified
	src     netip.AddrPort
	// dst is the local address to which the message came; the answer leaves from it.
	dst netip.Addr
}

// longestDatagram is the longest accepted datagram, in bytes: gossip is longer than our own messages. The buffer has
// one byte more, to detect truncation.
const longestDatagram = 1500

// intake stands between the socket and the gates: it counts what it drops, and remembers what came before.
type intake struct {
	codec   *atomic.Pointer[wire.Codec]
	started time.Time
	// gossip takes a datagram of the membership, and reports whether it was authentic.
	gossip func(payload []byte, src netip.AddrPort) bool
	drops  *drops
	// duplicates is nil without a secret: then equal bytes may be a message that its sender repeats.
	duplicates *duplicates
	// queueing and gossiping are for the reader only.
	queueing, gossiping sources
	inbound             chan inbound
	// Only the loop uses senders and offers.
	senders senders
	offers  offers
}

func newIntake(cfg *Config, codec *atomic.Pointer[wire.Codec], started time.Time) *intake {
	i := &intake{
		codec: codec, started: started, drops: newDrops(cfg.Log), inbound: make(chan inbound, inboundQueue),
		senders: newSenders(), offers: newOffers(),
		queueing: newSources(queueRefill, queueBurst), gossiping: newSources(gossipRefill, gossipBurst),
	}
	if cfg.Secret != nil {
		i.duplicates = newDuplicates()
	}
	return i
}

// admitsGossip reports whether the signature of one more datagram of gossip from an address may be checked. Only the
// reader uses it.
func (i *intake) admitsGossip(from netip.Addr) bool {
	return i.gossiping.admit(from, policy.Time(time.Since(i.started)))
}

// read dispatches datagrams until the socket is closed: gossip to membership, our own messages to the loop, the rest to
// the counters. It does not allocate for junk.
func (i *intake) read(packets transport.Packets) error {
	buf := make([]byte, longestDatagram+1)
	for {
		n, src, dst, err := packets.ReadFrom(buf)
		if err != nil {
			return err
		}
		i.sort(buf[:n], src, dst)
	}
}

// sort handles one datagram with the checks that need no state of the loop.
func (i *intake) sort(datagram []byte, src netip.AddrPort, dst netip.Addr) {
	if len(datagram) > longestDatagram {
		i.drops.add(wire.DropSize, src)
		return
	}
	class, payload, drop := wire.Classify(datagram)
	if drop != 0 {
		i.drops.add(drop, src)
		return
	}
	var digest uint64
	if i.duplicates != nil {
		if digest = i.duplicates.digest(datagram); i.duplicates.find(digest) != nil {
			i.drops.add(wire.DropDuplicate, src)
			return
		}
	}
	if class == wire.ClassGossip {
		if i.gossip(payload, src) && i.duplicates != nil {
			i.duplicates.add(digest, struct{}{})
		}
		return
	}
	in := inbound{src: src, dst: dst}
	if in.message, drop = i.codec.Load().Open(datagram); drop != 0 {
		i.drops.add(drop, src)
		return
	}
	if i.duplicates != nil {
		i.duplicates.add(digest, struct{}{})
	}
	if !i.queueing.admit(src.Addr(), policy.Time(time.Since(i.started))) {
		i.drops.add(wire.DropRate, src)
		return
	}
	select {
	case i.inbound <- in:
	default:
		i.drops.add(wire.DropOverload, src)
	}
}

// onInbound does the checks that need the loop's state, the signature last, and passes the message to its gate. A gate
// of a pattern that is not here yet is made for a message that has passed them.
func (a *Agent) onInbound(in *inbound) {
	m := &in.message.Message
	g, p := a.byGate[m.Gate], patterns.Of(*a.patterns.Load(), m.Gate)
	var d *policy.Descriptor
	var within time.Duration
	switch {
	case g != nil:
		d, within = g.Descriptor(), g.SaveWithin()
	case p != nil:
		of := p.Config.Protocol.Descriptor()
		d, within = &of, p.Config.Protocol.SaveWithin()
	default:
		a.intake.drops.add(wire.DropGate, in.src)
		return
	}
	switch {
	case m.To != a.self:
		a.intake.drops.add(wire.DropAddressee, in.src)
		return
	case !d.Speaks(m):
		a.intake.drops.addForeign(m, d, in.src)
		return
	case !d.WellFormed(m):
		a.intake.drops.add(wire.DropMalformed, in.src)
		return
	}
	now := a.clock.Now().Time
	offers := d.Kinds.Part(m.Kind) == policy.Offers && m.Exchange != 0
	sender, ok := a.view.Lookup(m.From)
	switch {
	case !ok || !sender.Has(m.Gate): // a member that sends a message about a token is in its gate
		a.intake.drops.add(wire.DropUnverified, in.src)
		return
	case offers && a.intake.offers.isOld(m.Exchange, now, offeredFor(within)):
		a.intake.drops.add(wire.DropDuplicate, in.src)
		return
	case g != nil && !g.Expects(m):
		a.intake.drops.add(wire.DropUnexpected, in.src)
		return
	case !a.intake.senders.admit(m.From, sender.Addr, in.src, now):
		a.intake.drops.add(wire.DropRate, in.src)
		return
	case !in.message.Verify(sender.Key):
		a.intake.drops.add(wire.DropSignature, in.src)
		return
	}
	a.intake.senders.cameTo(m.From, in.src, in.dst, now)
	if g == nil {
		if !(byName{a}).make(p, m.Gate, "") {
			a.intake.drops.add(wire.DropOverload, in.src)
			return
		}
		g = a.byGate[m.Gate]
	}
	if offers {
		a.intake.offers.saw(m.Exchange, now)
	}
	g.Receive(m)
}

// sendGossip sends a datagram of memberlist in our envelope.
func (a *Agent) sendGossip(payload []byte, dst netip.AddrPort) error {
	datagram := wire.AppendGossip(make([]byte, 0, len(payload)+wire.EnvelopeSize), payload)
	return a.endpoint.Packets.WriteTo(datagram, netip.Addr{}, dst)
}
