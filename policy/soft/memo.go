package soft

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Memo is what a soft gate saves besides the time of the last run: the token of that run, its slot, and when a failed
// run is repeated. On disk:
//
//	0       8                24       32     33     41         42        46
//	| birth | generator       | random | slot | wait | failures | members | zeros
type Memo struct {
	Token wire.TokenID
	Slot  uint8
	// Wait is the time from the start of that run to the next one, if that is not Δmin; else zero.
	Wait time.Duration
	// Failures is how many runs have failed in a row.
	Failures uint8
	// Members is how many members were here when that run started; zero if that is not known.
	Members uint32
}

// Bytes returns the memo as it is saved.
func (k Memo) Bytes() (b policy.Memo) {
	binary.BigEndian.PutUint64(b[:8], uint64(k.Token.Birth))
	copy(b[8:24], k.Token.Generator[:])
	binary.BigEndian.PutUint64(b[24:32], k.Token.Random)
	b[32] = k.Slot
	binary.BigEndian.PutUint64(b[33:41], uint64(k.Wait))
	b[41] = k.Failures
	binary.BigEndian.PutUint32(b[42:46], k.Members)
	return b
}

// MemoOf returns the memo that was saved.
func MemoOf(b *policy.Memo) (k Memo) {
	k.Token.Birth = int64(binary.BigEndian.Uint64(b[:8]))
	copy(k.Token.Generator[:], b[8:24])
	k.Token.Random = binary.BigEndian.Uint64(b[24:32])
	k.Slot = b[32]
	k.Wait = time.Duration(binary.BigEndian.Uint64(b[33:41]))
	k.Failures = b[41]
	k.Members = binary.BigEndian.Uint32(b[42:46])
	return k
}

// Doubt removes from a saved state what cannot be true by a clock that reads wall: a token that was made in the future,
// and a kept grant with such a number, or with a load that is not wellFormed.
func Doubt(wall int64, s *policy.State, wellFormed func(*wire.Load, uint8) bool) (why string) {
	if t := &s.Kept.Token; s.Kept.Is() {
		if t.Seq > wire.LatestSeq(wall) || t.ID.Birth > wire.LatestBirth(wall) || !wellFormed(&s.Kept.Load, t.Slot) {
			s.Kept = policy.Kept{}
			why = "a kept grant in the state directory has a number or guardians that cannot be; forgot it"
		}
	}
	k := MemoOf(&s.Memo)
	if k.Token.Birth <= wire.LatestBirth(wall) {
		return why
	}
	k.Token = wire.TokenID{}
	s.Memo = k.Bytes()
	return "the last run was under a token that was made in the future by this host's clock; forgot the token"
}
