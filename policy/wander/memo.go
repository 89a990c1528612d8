package wander

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Memo is what a soft gate saves besides the time of the last run: the token of that run, and its slot. On disk:
//
//	0       8                24       32     33
//	| birth | generator       | random | slot | zeros
type Memo struct {
	Token wire.TokenID
	Slot  uint8
}

// Bytes returns the memo as it is saved.
func (k Memo) Bytes() (b policy.Memo) {
	binary.BigEndian.PutUint64(b[:8], uint64(k.Token.Birth))
	copy(b[8:24], k.Token.Generator[:])
	binary.BigEndian.PutUint64(b[24:32], k.Token.Random)
	b[32] = k.Slot
	return b
}

// MemoOf returns the memo that was saved.
func MemoOf(b *policy.Memo) (k Memo) {
	k.Token.Birth = int64(binary.BigEndian.Uint64(b[:8]))
	copy(k.Token.Generator[:], b[8:24])
	k.Token.Random = binary.BigEndian.Uint64(b[24:32])
	k.Slot = b[32]
	return k
}

// doubt removes the token from a saved state if it was made in the future, by a clock that reads wall.
func doubt(wall int64, s *policy.State) (why string) {
	k := MemoOf(&s.Memo)
	if k.Token.Birth <= wire.LatestBirth(wall) {
		return ""
	}
	k.Token = wire.TokenID{}
	s.Memo = k.Bytes()
	return "the last run was under a token that was made in the future by this host's clock; forgot the token"
}
