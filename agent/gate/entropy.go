package gate

import (
	"crypto/rand"
	"encoding/binary"
)

// entropy is the machines' cryptographic random source.
type entropy struct{}

// Uint64 returns 64 random bits.
func (entropy) Uint64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // It never fails.
	return binary.LittleEndian.Uint64(b[:])
}
