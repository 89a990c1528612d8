package sim

import (
	"encoding/binary"
	"fmt"

	"github.com/wanderd/wanderd/wire"
)

// Order is how the members' identities, and so their ranks, relate to their numbers.
type Order uint8

const (
	// Shuffled gives ranks that look random and depend on the seed, as hashes of keys do.
	Shuffled Order = iota
	// InOrder gives member 0 the lowest rank and member 1 the next. It is for scripts that people read.
	InOrder
)

// Identity makes member i's identity. Its last four bytes are the number, so that [IndexOf] costs nothing.
func Identity(order Order, seed uint64, i int) wire.MemberID {
	rank := uint64(i) + 1
	if order == Shuffled {
		rank = Mix(seed ^ Mix(rank))
	}
	var id wire.MemberID
	binary.BigEndian.PutUint64(id[:], rank)
	binary.BigEndian.PutUint32(id[12:], uint32(i))
	return id
}

// Roster makes the identities of all members, in the order of their numbers.
func Roster(order Order, seed uint64, members int) []wire.MemberID {
	ids := make([]wire.MemberID, members)
	for i := range ids {
		ids[i] = Identity(order, seed, i)
	}
	return ids
}

// IndexOf returns the number of the member called id.
func IndexOf(id wire.MemberID) int { return int(binary.BigEndian.Uint32(id[12:])) }

// MemberName calls the first members a to z and the rest m26, m27…
func MemberName(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprintf("m%d", i)
}

// Mix is the finaliser of SplitMix64: every bit of x changes about half of the bits of the result.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
