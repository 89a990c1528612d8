package wire

import "fmt"

// Drop is the reason why a datagram was dropped, for counters and logs. Zero means that it was not dropped.
type Drop uint8

// The reasons, in the order of the checks. This package makes the first eight, the agent the rest.
const (
	// DropSize: shorter than any datagram of its class, or longer than MaxDatagram.
	DropSize Drop = iota + 1
	// DropMagic: not a datagram of wanderd.
	DropMagic
	// DropVersion: another version of this layout.
	DropVersion
	// DropClass: neither gossip nor a message, or not the requested class.
	DropClass
	// DropClear: an unencrypted message, but this fleet has a secret.
	DropClear
	// DropNoSecret: a sealed message, but this member has no secret.
	DropNoSecret
	// DropSeal: the seal does not open: made with another secret, or changed in transit.
	DropSeal
	// DropMalformed: a message that breaks a rule of its layout.
	DropMalformed
	// DropGate: for a gate that this member does not have.
	DropGate
	// DropProtocol: for a gate that this member has, in another protocol or version of it.
	DropProtocol
	// DropAddressee: for another member.
	DropAddressee
	// DropUnverified: the membership does not know the sender, or not as a member of the gate.
	DropUnverified
	// DropRate: its sender sends more than it may.
	DropRate
	// DropUnexpected: the message could not change the gate's machine now.
	DropUnexpected
	// DropSignature: not signed by the member in its from field.
	DropSignature
	// DropOverload: the agent's queue is full.
	DropOverload
	// DropDuplicate: the same sealed datagram came before: the network duplicated it, or it is replayed.
	DropDuplicate

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

// String returns the reason as in logs and labels of metrics.
func (d Drop) String() string {
	names := [...]string{
		DropSize:       "size",
		DropMagic:      "magic",
		DropVersion:    "version",
		DropClass:      "class",
		DropClear:      "clear",
		DropNoSecret:   "no_secret",
		DropSeal:       "seal",
		DropMalformed:  "malformed",
		DropGate:       "gate",
		DropProtocol:   "protocol",
		DropAddressee:  "addressee",
		DropUnverified: "stranger",
		DropRate:       "rate",
		DropUnexpected: "unexpected",
		DropSignature:  "signature",
		DropOverload:   "overload",
		DropDuplicate:  "duplicate",
	}
	if d > 0 && int(d) < len(names) {
		return names[d]
	}
	return fmt.Sprintf("Drop(%d)", uint8(d))
}
