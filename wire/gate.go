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

// String returns 16 hexadecimal digits.
func (g GateID) String() string { return fmt.Sprintf("%016x", uint64(g)) }
