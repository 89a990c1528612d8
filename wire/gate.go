package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// GateID names a gate on the wire: the first eight bytes of a SHA-256 hash of its name.
type GateID uint64

// GateIDOf returns the identity of the gate with this name.
func GateIDOf(name string) GateID {
	sum := sha256.Sum256([]byte("wanderd gate v1\x00" + name))
	return GateID(binary.BigEndian.Uint64(sum[:8]))
}

// TagBits is how many bits of its identity a member announces of a gate, the highest ones.
const TagBits = 15

// below are the bits of an identity that are not announced.
const below = 1<<(64-TagBits) - 1

// GateIDIn returns the identity of a gate that is one of many which are announced together, as a gate of another
// identity.
func GateIDIn(all GateID, name string) GateID { return all&^below | GateIDOf(name)&below }

// In reports whether a gate is announced as a gate of another identity is.
func (g GateID) In(all GateID) bool { return g&^below == all&^below }

// String returns 16 hexadecimal digits.
func (g GateID) String() string { return fmt.Sprintf("%016x", uint64(g)) }
