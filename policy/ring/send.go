package ring

import (
	"encoding/binary"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

const (
	// KindRequest is the request message. "We assume that the requests messages are anonymous, i.e. they carry no
	// information about the processor that generated them" (section 2): on paper links origin and number are zero. The
	// load:
	//
	//	0       1      5        7       15       23     27      28
	//	| again | tour | origin | count | number | call | round | zeros
	KindRequest wire.Kind = iota + 64
	// KindReceipt acknowledges a request over UDP, with the same load.
	KindReceipt
)

// Descriptor describes the token ring to shells and simulator.
func Descriptor() policy.Descriptor {
	return policy.Descriptor{
		ID: 2, Name: "ring", Version: 1, WellFormed: wellFormed,
		Kinds: slices.Concat(handoff.Kinds(), kcopies.Kinds(), policy.Kinds{
			{Kind: KindRequest, Name: "Request"}, {Kind: KindReceipt, Name: "Receipt"},
		}),
		Notes: slices.Concat(handoff.Notes(), kcopies.Notes(), notes()),
	}
}

type request struct {
	// tour is the number of the last recounting tour that had come to the member when it made the request.
	tour uint32
	// call is not zero if the message is a call for a recounting tour, and not a request: see recount.go. The number
	// tells a member's calls apart. origin is the member that calls; tour and count are the greatest numbers that the
	// call has met. round is true if the call has been round once.
	call   uint32
	round  bool
	origin kcopies.Site
	count  wire.Seq
	// number is the origin's number of the request. again is true if it was sent to the same neighbour before. Both are
	// used only over UDP. back is true if the request goes against the token's direction.
	number      uint64
	again, back bool
}

func requestOf(msg *wire.Message) request {
	return request{
		again: msg.Load[0] == 1, tour: binary.BigEndian.Uint32(msg.Load[1:]),
		origin: kcopies.Site(binary.BigEndian.Uint16(msg.Load[5:])),
		count:  wire.Seq(binary.BigEndian.Uint64(msg.Load[7:])),
		number: binary.BigEndian.Uint64(msg.Load[15:]), call: binary.BigEndian.Uint32(msg.Load[23:]),
		round: msg.Load[27] == 1,
	}
}

// requestOf reads a request. An impossible number of a token is not taken over.
func (m *Machine) requestOf(now policy.Instant, msg *wire.Message) request {
	r := requestOf(msg)
	if r.count > m.cfg.latest(now.Wall) {
		r.count = 0
	}
	return r
}

func (r request) write(msg *wire.Message) {
	if r.again {
		msg.Load[0] = 1
	}
	binary.BigEndian.PutUint32(msg.Load[1:], r.tour)
	binary.BigEndian.PutUint16(msg.Load[5:], uint16(r.origin))
	binary.BigEndian.PutUint64(msg.Load[7:], uint64(r.count))
	binary.BigEndian.PutUint64(msg.Load[15:], r.number)
	binary.BigEndian.PutUint32(msg.Load[23:], r.call)
	if r.round {
		msg.Load[27] = 1
	}
}

// Repeats reports whether a request message has been sent to the same neighbour before.
func Repeats(msg *wire.Message) bool { return msg.Kind == KindRequest && requestOf(msg).again }

// send sends a request message to next, or back to prev, if another member is live.
func (m *Machine) send(r request, out []policy.Effect) []policy.Effect {
	switch {
	case m.n == 1:
		return out
	case m.udp != nil:
		m.udp.post(m, r)
		return out
	}
	to := m.next
	if r.back {
		to = m.prev
	}
	return m.transmit(to, r, out)
}

func (m *Machine) transmit(to kcopies.Site, r request, out []policy.Effect) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To = m.cfg.Gate, KindRequest, m.cfg.Self, m.cfg.Members[to]
	r.write(msg)
	return out
}

// pass sends T to the next processor, and its copies.
func (m *Machine) pass(now policy.Instant, out []policy.Effect) []policy.Effect {
	data, to := m.T.data(), m.cfg.Members[m.next]
	if m.udp != nil {
		m.become(offering)
		m.udp.offeredTo = m.next
		ref, load := m.copies.Hop(m.next, &data)
		return m.udp.handoff.Offer(now.Time, &ref, &load, to, out)
	}
	ref := m.copies.Ref()
	out = policy.AppendGave(out, policy.CausePassed, to, &ref)
	out = m.copies.SafeSendTokenTo(m.next, &data, out)
	m.passed()
	return out
}

// passed records that the token is on its way to next, or has arrived there.
func (m *Machine) passed() {
	m.become(absent)
	m.nextWants, m.gave = false, m.copies.Count()
}

func wellFormed(msg *wire.Message) bool {
	switch {
	case msg.Kind == KindRequest, msg.Kind == KindReceipt:
		return msg.Token == wire.Ref{} && msg.Nonce == 0
	case handoff.Owns(msg.Kind):
		return handoff.WellFormed(msg)
	}
	return kcopies.WellFormed(msg)
}
