package handoff

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The three messages of a handoff (Ciuffoletti, section 4).
const (
	// KindToken is the paper's token passing message: the sender offers the token. It has no nonce.
	KindToken wire.Kind = iota + 1
	// KindAck is the acknowledgement: the receiver answers with a new nonce.
	KindAck
	// KindCommit is the commitment: the sender has given up the token, and the receiver holds it. It repeats the Ack's
	// nonce, and so is bound to this Ack. Its load is the rest of the sender's lease.
	KindCommit
)

// Kinds returns the kinds of message of a handoff.
func Kinds() policy.Kinds {
	return policy.Kinds{
		{Kind: KindToken, Name: "Token", Part: policy.Offers},
		{Kind: KindAck, Name: "Ack", Part: policy.Accepts},
		{Kind: KindCommit, Name: "Commit", Part: policy.Passes},
	}
}

// Owns reports whether a kind of message is a handoff's.
func Owns(kind wire.Kind) bool { return kind >= KindToken && kind <= KindCommit }
