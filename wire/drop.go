package wire

import "fmt"

// Drop is the reason for which a datagram was not acted upon, for counters and logs. Zero means that it was not dropped.
type Drop uint8

// The reasons in the order in which they are checked. The first eight are this package's, the rest the agent's.
const (
	// DropSize: shorter than any datagram of its class, or longer than MaxDatagram.
	DropSize Drop = iota + 1
	// DropMagic: not a datagram of ours.
	DropMagic
	// DropVersion: of another version of this layout.
	DropVersion
	// DropClass: neither gossip nor a message, or not what was asked for.
	DropClass
	// DropClear: a message in the clear, and this fleet has a secret.
	DropClear
	// DropNoSecret: a sealed message, and this member has no secret to open it.
	DropNoSecret
	// DropSeal: the seal does not open: made with another secret, or changed on the way.
	DropSeal
	// DropMalformed: a message that breaks a rule of its layout.
	DropMalformed
	// DropGate: for a gate this member does not take part in.
	DropGate
	// DropAddressee: for another member.
	DropAddressee
	// DropStranger: from somebody the membership does not know.
	DropStranger
	// DropRate: its sender sends more than it may.
	DropRate
	// DropUnexpected: the gate's machine could do nothing with it now.
	DropUnexpected
	// DropSignature: not signed by the member it says it is from.
	DropSignature
	// DropOverload: this agent is behind, and its queue is full.
	DropOverload

	dropsEnd
)

// Drops returns every reason, for tables of metrics and for tests of coverage.
func Drops() []Drop {
	all := make([]Drop, 0, dropsEnd-1)
	for d := DropSize; d < dropsEnd; d++ {
		all = append(all, d)
	}
	return all
}

// String returns the reason in the form used by logs and as a label of metrics.
func (d Drop) String() string {
	switch d {
	case DropSize:
		return "size"
	case DropMagic:
		return "magic"
	case DropVersion:
		return "version"
	case DropClass:
		return "class"
	case DropClear:
		return "clear"
	case DropNoSecret:
		return "no_secret"
	case DropSeal:
		return "seal"
	case DropMalformed:
		return "malformed"
	case DropGate:
		return "gate"
	case DropAddressee:
		return "addressee"
	case DropStranger:
		return "stranger"
	case DropRate:
		return "rate"
	case DropUnexpected:
		return "unexpected"
	case DropSignature:
		return "signature"
	case DropOverload:
		return "overload"
	case dropsEnd:
	}
	return fmt.Sprintf("Drop(%d)", uint8(d))
}
