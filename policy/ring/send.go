package ring

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// KindRequest is the request message. "We assume that the requests messages are anonymous, i.e. they carry no information about the
	// processor that generated them" (section 2).
	KindRequest wire.Kind = iota + 64
	// KindPass is the token T.
	KindPass
)

// Kinds returns the kinds of message of a ring.
func Kinds() policy.Kinds {
	return policy.Kinds{{Kind: KindRequest, Name: "Request"}, {Kind: KindPass, Name: "Pass", Part: policy.Passes}}
}

// request sends a request message to a neighbour.
func (m *Machine) request(out []policy.Effect, to uint16) []policy.Effect {
	msg := wire.Message{Gate: m.cfg.Gate, Kind: KindRequest, From: m.cfg.Self, To: m.cfg.Members[to]}
	return policy.AppendSend(out, &msg)
}

// pass sends T to the next processor.
func (m *Machine) pass(out []policy.Effect) []policy.Effect {
	m.become(absent)
	m.nextWants = false
	msg := wire.Message{Gate: m.cfg.Gate, Kind: KindPass, From: m.cfg.Self, To: m.cfg.Members[m.next]}
	m.T.write(&msg)
	out = policy.AppendGave(out, policy.CausePassed, msg.To, &m.T.Ref)
	return policy.AppendSend(out, &msg)
}

// WellFormed reports whether a message is one of a ring's, and has what those of its kind have.
func WellFormed(msg *wire.Message) bool {
	if msg.Kind == KindRequest {
		return msg.Token == wire.Ref{} && msg.Load == wire.Load{}
	}
	return msg.Kind == KindPass && msg.Token.IsWhole() && msg.Load[2] <= 1
}
