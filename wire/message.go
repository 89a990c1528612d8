package wire

import "strconv"

// Kind says what a message is for. The protocols number their own; see package policy.
type Kind uint8

// String returns the number.
func (k Kind) String() string { return strconv.Itoa(int(k)) }

// Exchange names one handoff, or one question and its answers. Its first sender draws it at random.
type Exchange uint64

// Nonce is the receiver's random number for a handoff: new for each, used once. Other kinds of message give it another meaning.
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
	// Nonce is zero in the Token of a handoff. The Ack introduces it, and the Commit repeats it, which binds the Commit to this Ack.
	Nonce Nonce
	// Token is what the message is about; in Ack and Commit its generator is NULL.
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
