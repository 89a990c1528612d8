package wire

import "fmt"

// Kind is one of the three messages of a handoff (Ciuffoletti, section 4), one of the six between a token's holder
// and its guardians, or one of the two by which a member asks for a token before it makes one.
type Kind uint8

const (
	// KindToken is the paper's token passing message: the sender offers the token.
	KindToken Kind = iota + 1
	// KindAck is the acknowledgement: the receiver answers with a new nonce.
	KindAck
	// KindCommit is the commitment: the sender has given up the token, and the receiver holds it.
	KindCommit
	// KindBeat: its sender holds the token, and its addressee is one of the guardians. It is also the holder's answer to an Ask.
	KindBeat
	// KindAsk asks for the holder of a token. Its sender guards the token, or was away while it held the token.
	KindAsk
	// KindHeard answers an Ask: its sender is a guardian too, and heard the holder some time ago.
	KindHeard
	// KindKnown answers an Ask: its sender neither holds nor guards the token, and sends the last state of it that it knows. Without
	// an Ask it releases a guardian.
	KindKnown
	// KindBuried: the token, up to this number, was removed and must not be revived. It is also an answer to an Ask.
	KindBuried
	// KindInquiry asks whether the addressee has seen a token. No token has come to its sender for regenerate-after, so it would
	// make a new one.
	KindInquiry
	// KindSeen answers an Inquiry: some time ago its sender held this token or heard of it. The trail lists members that may have heard
	// of it since.
	KindSeen
	// KindYield: its sender held the token, no longer holds it, and has not passed it. Its addressee, one of the guardians, need not
	// wait for a silence. It has no answer.
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

// OfHandoff reports whether it is one of the three messages of a handoff.
func (k Kind) OfHandoff() bool { return k == KindToken || k == KindAck || k == KindCommit }

// Exchange names one handoff, or one question and its answers. Its first sender draws it at random.
type Exchange uint64

// Nonce is the receiver's random number for a handoff: new for each, used once. In messages between holder and guardians it has
// another meaning; see [Message].
type Nonce uint64

// Message is one datagram's content. "The acknowledgement and the commitment contain the same fields, but the generator
// field is set to a distinguished NULL value" (Ciuffoletti, section 4).
type Message struct {
	Gate GateID
	// Protocol and Version are those of the sender's family. The shell writes and checks them, not the machines.
	Protocol, Version uint8
	Kind              Kind
	From, To          MemberID
	// Exchange in an answer repeats that of the request; it is zero in messages without a request.
	Exchange Exchange
	// Nonce is zero in a Token. The Ack introduces it, and the Commit repeats it, which binds the Commit to this Ack. In a Beat it counts
	// the beats of one holder, from 1; in Heard and Seen it is the time since, in nanoseconds and at least 1; in all others it is zero.
	Nonce Nonce
	// Token is complete, except in Ack and Commit, where its generator is NULL, and in an Inquiry, which has the slot only.
	Token Ref
	// Load is what the token carries besides, in the layout of its protocol; zero in an Ack. A Commit says in it what is left of a lease.
	Load Load
}

// Reply returns the handoff message that answers m: same gate, exchange and token, sender and addressee exchanged, the generator NULL,
// the load zero.
func (m *Message) Reply(kind Kind, nonce Nonce) Message {
	return Message{
		Gate: m.Gate, Kind: kind, From: m.To, To: m.From, Exchange: m.Exchange, Nonce: nonce, Token: m.Token.Bare(),
	}
}
