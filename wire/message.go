package wire

import "fmt"

// Kind is one of the three messages of a handoff (Ciuffoletti, section 4), one of the six between a token's holder
// and its guardians, or one of the two by which a member asks for a token before it makes one.
type Kind uint8

const (
	// KindToken is the paper's token passing message: the sender offers the token.
	KindToken Kind = iota + 1
	// KindAck is the acknowledgement: the receiver is there, and answers with a nonce nobody has seen before.
	KindAck
	// KindCommit is the commitment: the sender has given up the token, and the receiver holds it.
	KindCommit
	// KindBeat: its sender holds the token, and its addressee is one of the guardians; also the holder's answer to an Ask.
	KindBeat
	// KindAsk: its sender keeps a copy of the token, or has been away while it held it. Who holds it?
	KindAsk
	// KindHeard answers an Ask: its sender is a guardian as well, and has heard the holder, some time ago.
	KindHeard
	// KindKnown answers an Ask: its sender neither holds nor guards the token. Unasked it releases a guardian. What it says
	// of the token is the last that its sender knows.
	KindKnown
	// KindBuried: the token, as far as that number, was removed, and is not to be revived; also an answer to an Ask.
	KindBuried
	// KindInquiry: no token has come to its sender for so long that it would make a new one. Has one come to anybody else?
	KindInquiry
	// KindSeen answers an Inquiry: some time ago this token was at its sender, or its sender heard of it. The trail names those who
	// may have had word of it since.
	KindSeen
	// KindYield: its sender held the token, holds it no longer, and has passed it to nobody. Its addressee, one of the
	// guardians, need not wait for a silence. Nothing is answered.
	KindYield

	kindsEnd
)

// Kinds returns every kind of message, for tables of metrics and for tests of coverage.
func Kinds() []Kind {
	all := make([]Kind, 0, kindsEnd-1)
	for k := KindToken; k < kindsEnd; k++ {
		all = append(all, k)
	}
	return all
}

// String returns the short name, the paper's for the messages of a handoff.
func (k Kind) String() string {
	switch k {
	case KindToken:
		return "Token"
	case KindAck:
		return "Ack"
	case KindCommit:
		return "Commit"
	case KindBeat:
		return "Beat"
	case KindAsk:
		return "Ask"
	case KindHeard:
		return "Heard"
	case KindKnown:
		return "Known"
	case KindBuried:
		return "Buried"
	case KindInquiry:
		return "Inquiry"
	case KindSeen:
		return "Seen"
	case KindYield:
		return "Yield"
	case kindsEnd:
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// OfHandoff reports whether it is one of the three messages of a handoff, and not one between holder and guardians.
func (k Kind) OfHandoff() bool { return k == KindToken || k == KindAck || k == KindCommit }

// HandoffID names one attempt to pass a token to one member, or one question. The sender draws it at random.
type HandoffID uint64

// Nonce is the receiver's contribution to a handoff: drawn afresh for each, used once. Between holder and guardians it is a
// number of another kind; [Message] says which.
type Nonce uint64

// Message is one datagram's content. "The acknowledgement and the commitment contain the same fields, but the generator
// field is set to a distinguished NULL value" (Ciuffoletti, section 4).
type Message struct {
	Gate     GateID
	Kind     Kind
	From, To MemberID
	// Handoff is the question's in an answer, and zero in what nobody asked for.
	Handoff HandoffID
	// Nonce is zero in a Token. The Ack introduces it, and the Commit repeats it: that binds the Commit to this Ack. In a
	// Beat it counts the beats of one holder, from 1; in Heard and Seen it is how long ago that was, in nanoseconds and at
	// least 1; in all others it is zero.
	Nonce Nonce
	// Token is whole but in Ack and Commit, where its generator is NULL and it carries nothing, and in an Inquiry, which is
	// about no token but its slot.
	Token Token
}

// Reply returns the message of a handoff that answers m: same gate, handoff and token, the parties exchanged, the generator
// NULL, nothing carried.
func (m *Message) Reply(kind Kind, nonce Nonce) Message {
	return Message{
		Gate: m.Gate, Kind: kind, From: m.To, To: m.From, Handoff: m.Handoff, Nonce: nonce, Token: m.Token.Bare(),
	}
}
