package wire

import "fmt"

// Kind is one of the three messages of a handoff (Ciuffoletti, section 4).
type Kind uint8

const (
	// KindToken is the paper's token passing message: the sender offers the token.
	KindToken Kind = iota + 1
	// KindAck is the acknowledgement: the receiver is there, and answers with a nonce nobody has seen before.
	KindAck
	// KindCommit is the commitment: the sender has given up the token, and the receiver holds it.
	KindCommit
)

// String returns the paper's short name.
func (k Kind) String() string {
	switch k {
	case KindToken:
		return "Token"
	case KindAck:
		return "Ack"
	case KindCommit:
		return "Commit"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// HandoffID names one attempt to pass a token to one member. The sender draws it at random.
type HandoffID uint64

// Nonce is the receiver's contribution to a handoff: drawn afresh for each, used once.
type Nonce uint64

// Message is one datagram's content. "The acknowledgement and the commitment contain the same fields, but the generator
// field is set to a distinguished NULL value" (Ciuffoletti, section 4).
type Message struct {
	Gate     GateID
	Kind     Kind
	From, To MemberID
	Handoff  HandoffID
	// Nonce is zero in a Token. The Ack introduces it, and the Commit repeats it: that binds the Commit to this Ack.
	Nonce Nonce
	// Token is whole in a Token; in Ack and Commit its generator is NULL and its route empty.
	Token Token
}

// Reply returns the message that answers m: same gate, handoff and token, the parties exchanged, the generator NULL, no
// route.
func (m *Message) Reply(kind Kind, nonce Nonce) Message {
	r := Message{Gate: m.Gate, Kind: kind, From: m.To, To: m.From, Handoff: m.Handoff, Nonce: nonce, Token: m.Token}
	r.Token.ID.Generator = MemberID{}
	r.Token.Route = Route{}
	return r
}
