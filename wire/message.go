package wire

import "strconv"

// Kind is what a message is for. The protocols number their own kinds; see package policy.
type Kind uint8

// String returns the number.
func (k Kind) String() string { return strconv.Itoa(int(k)) }

// Exchange names one handoff, or one question and its answers. Its first sender draws it at random.
type Exchange uint64

// Nonce is the receiver's random number for a handoff: new for each, used once. Other kinds of message give it another
// meaning.
type Nonce uint64

// Message is one datagram's content.
type Message struct {
	Gate GateID
	// Protocol and Version are those of the sender's protocol. The shell writes and checks them; the machines do not.
	Protocol, Version uint8
	Kind              Kind
	From, To          MemberID
	// Exchange in an answer repeats the Exchange of the request; it is zero in messages without a request.
	Exchange Exchange
	// Nonce has the meaning that its kind defines: in a handoff, it is the receiver's random number.
	Nonce Nonce
	// Token is what the message is about.
	Token Ref
	// Directive and Failures are the newest ones that the sender knows of. The machines use neither: see package
	// policy/directive.
	Directive Directive
	Failures  Failures
	// Load is what else the message carries, in the layout of its protocol.
	Load Load
}
