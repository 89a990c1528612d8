package ring

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// KindRequest is the request message. "We assume that the requests messages are anonymous, i.e. they carry no information about the
// processor that generated them" (section 2). Its load:
//
//	0      1      5        7       15
//	| call | tour | origin | count | zeros
const KindRequest wire.Kind = 64

// Kinds returns the kinds of message of a ring.
func Kinds() policy.Kinds { return policy.Kinds{{Kind: KindRequest, Name: "Request"}} }

// request is what a request message says.
type request struct {
	// tour is the number of the last recounting tour that had come to the processor by then.
	tour uint32
	// call says that it calls for a recounting tour, and is no request: see recount.go. origin is the member that calls; tour and count are
	// the greatest numbers that the call has met on its way.
	call   bool
	origin kcopies.Site
	count  wire.Seq
}

func requestOf(msg *wire.Message) request {
	return request{
		call: msg.Load[0] == 1, tour: binary.BigEndian.Uint32(msg.Load[1:]),
		origin: kcopies.Site(binary.BigEndian.Uint16(msg.Load[5:])), count: wire.Seq(binary.BigEndian.Uint64(msg.Load[7:])),
	}
}

func (r request) write(msg *wire.Message) {
	if r.call {
		msg.Load[0] = 1
	}
	binary.BigEndian.PutUint32(msg.Load[1:], r.tour)
	binary.BigEndian.PutUint16(msg.Load[5:], uint16(r.origin))
	binary.BigEndian.PutUint64(msg.Load[7:], uint64(r.count))
}

// send sends a request message to a neighbour.
func (m *Machine) send(to kcopies.Site, r request, out []policy.Effect) []policy.Effect {
	msg := wire.Message{Gate: m.cfg.Gate, Kind: KindRequest, From: m.cfg.Self, To: m.cfg.Members[to]}
	r.write(&msg)
	return policy.AppendSend(out, &msg)
}

// pass sends T to the next processor, and its copies.
func (m *Machine) pass(out []policy.Effect) []policy.Effect {
	m.become(absent)
	m.nextWants = false
	data := m.T.data()
	ref, load := m.copies.Hop(m.next, &data)
	msg := wire.Message{Gate: m.cfg.Gate, Kind: kcopies.KindToken, From: m.cfg.Self, To: m.cfg.Members[m.next], Token: ref, Load: load}
	out = policy.AppendGave(out, policy.CausePassed, msg.To, &ref)
	out = policy.AppendSend(out, &msg)
	return m.copies.Hopped(m.next, &data, out)
}

// WellFormed reports whether a message is one of a ring's, and has what those of its kind have.
func WellFormed(msg *wire.Message) bool {
	if msg.Kind == KindRequest {
		return msg.Token == wire.Ref{} && msg.Nonce == 0
	}
	return kcopies.WellFormed(msg)
}
