package wire

import (
	"cmp"
	"fmt"
)

// TokenID identifies a token and never changes: "the token consists of the identifier of the host that generated it, of
// a Unix timestamp corresponding to the generation time, and of a random id" (Ciuffoletti, section 4).
type TokenID struct {
	// Birth is the generator's wall clock when it made the token, in nanoseconds of Unix time.
	Birth int64
	// Generator is the member that made the token; NULL (zero) in messages that need not name it.
	Generator MemberID
	// Random distinguishes two tokens that one member made at the same time.
	Random uint64
}

// Compare is negative if t precedes o: "precedence is based firstly on the timestamp included in the token, and next on
// the generator identifier" (Ciuffoletti, section 5), and last on the random id.
func (t TokenID) Compare(o TokenID) int {
	return cmp.Or(cmp.Compare(t.Birth, o.Birth), t.Generator.Compare(o.Generator), cmp.Compare(t.Random, o.Random))
}

// Precedes reports whether t survives when it meets o.
func (t TokenID) Precedes(o TokenID) bool { return t.Compare(o) < 0 }

// IsZero reports whether t identifies no token.
func (t TokenID) IsZero() bool { return t == TokenID{} }

// String returns the name of the token in logs: the first digits of the generator and of the random id.
func (t TokenID) String() string {
	return fmt.Sprintf("%s.%08x", t.Generator.Short(), uint32(t.Random>>32))
}

// Seq is the fencing number. It rises at every handoff and with every new token, so a resource that remembers the
// highest one can refuse a holder that has been overtaken.
type Seq uint64

// MaxBirth bounds the birth stamp in a datagram (the year 2116), so that a later one always exists.
const MaxBirth = 1 << 62

const (
	// MaxSeq bounds the number in a datagram, so that raising it never overflows.
	MaxSeq Seq = 1<<63 - 1
	// seqEpoch separates the numbers that one token can reach by hops from the first number of the next token.
	seqEpoch Seq = 1 << 32
	// seqTie separates the copies of one token that several guardians revive at the same time.
	seqTie Seq = 1 << 24
)

// After returns the number of the next hop after s.
func (s Seq) After() Seq { return min(s, MaxSeq-1) + 1 }

// NextEpoch returns the number of a new token whose maker has seen numbers up to s. It is above every number that the
// old token can have reached since by hops. A member that has seen none starts at 1.
func (s Seq) NextEpoch() Seq {
	if s == 0 {
		return 1
	}
	return min((min(s, MaxSeq)/seqEpoch+1)*seqEpoch, MaxSeq)
}

// Revived returns the number of a token that is revived by a member that has seen numbers up to s. It is above every
// number that the lost one can have reached since by hops. Two guardians that revive the same token independently most
// probably choose different ties, so one copy is higher.
func (s Seq) Revived(tie uint8) Seq { return min(s.NextEpoch()+Seq(tie)*seqTie, MaxSeq) }

// In seconds of Unix time: the year 2000, before which no fleet has made a number, and the allowed clock difference of
// a day.
const (
	numbersSince = 946_684_800
	leeway       = 24 * 60 * 60
)

// LatestSeq is the highest number that a fleet can have reached when a clock reads wall, in nanoseconds of Unix time.
// Each new token and each revival raises the number by an epoch, and on average there are fewer of them than seconds
// since numbersSince. No honest fleet has a higher number. The bound needs only a clock, so it also serves a member
// that has seen no number yet; many small jumps reach no further than a large one; and a day later there is room above
// a number that was raised to the bound. A clock before numbersSince is wrong; even then an honest fleet stays below
// leeway.
func LatestSeq(wall int64) Seq {
	const epochs = int64(MaxSeq / seqEpoch)
	return Seq(min(max(wall/1e9-numbersSince, 0)+leeway, epochs)) * seqEpoch
}

// SeqOfClock is a number that rises with the clock, below [LatestSeq] by the allowed difference of clocks. A gate that
// remembers nothing begins with it: one that was forgotten had fewer new tokens and revivals than seconds have passed.
func SeqOfClock(wall int64) Seq {
	return Seq(min(max(wall/1e9-numbersSince, 0), int64(MaxSeq/seqEpoch)-1)) * seqEpoch
}

// LatestBirth is the latest birth stamp that a token can have when a clock reads wall, in nanoseconds of Unix time. A
// clock before numbersSince was never set, so there is no bound.
func LatestBirth(wall int64) int64 {
	if wall < numbersSince*1e9 {
		return MaxBirth
	}
	return min(wall, MaxBirth-leeway*1e9) + leeway*1e9
}

// MaxSlots is the largest number of tokens of a gate.
const MaxSlots = 64

// LoadSize is the length of a load in bytes.
const LoadSize = 112

// Load is what a message carries for its protocol only, in a layout of the protocol's own. Bytes that are not used are
// zero.
type Load [LoadSize]byte

// Ref names a token at one hop of its way. A token has these fields in every protocol.
type Ref struct {
	ID  TokenID
	Seq Seq
	// Slot is its slot in the gate, from 0; zero in a gate with one token.
	Slot uint8
}

// IsWhole reports whether r names a token completely: it has a number and a generator.
func (r *Ref) IsWhole() bool { return r.Seq > 0 && !r.ID.Generator.IsZero() }

// Bare returns the name with NULL as its generator.
func (r *Ref) Bare() Ref {
	return Ref{ID: TokenID{Birth: r.ID.Birth, Random: r.ID.Random}, Seq: r.Seq, Slot: r.Slot}
}
