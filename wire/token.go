package wire

import (
	"cmp"
	"fmt"
	"time"
)

// TokenID identifies a token for as long as it lives: "the token consists of the identifier of the host that generated it,
// of a Unix timestamp corresponding to the generation time, and of a random id" (Ciuffoletti, section 4).
type TokenID struct {
	// Birth is the generator's wall clock when it made the token, in nanoseconds of Unix time.
	Birth int64
	// Generator is the member that made the token; NULL (zero) in Ack and Commit.
	Generator MemberID
	// Random tells apart two tokens that one member made in the same instant.
	Random uint64
}

// Compare is negative if t precedes o: "precedence is based firstly on the timestamp included in the token, and next on the
// generator identifier" (Ciuffoletti, section 5), and last on the random id.
func (t TokenID) Compare(o TokenID) int {
	if c := cmp.Compare(t.Birth, o.Birth); c != 0 {
		return c
	}
	if c := t.Generator.Compare(o.Generator); c != 0 {
		return c
	}
	return cmp.Compare(t.Random, o.Random)
}

// Precedes reports whether t is the one that survives when it meets o.
func (t TokenID) Precedes(o TokenID) bool { return t.Compare(o) < 0 }

// IsZero reports whether t identifies no token.
func (t TokenID) IsZero() bool { return t == TokenID{} }

// String names the token for a log line: the generator's first digits and the random id's first digits.
func (t TokenID) String() string {
	return fmt.Sprintf("%s.%08x", t.Generator.Short(), uint32(t.Random>>32))
}

// Seq is the fencing number: it rises at every handoff and at every new token, so a resource that remembers the highest
// one it served can refuse a holder that has been overtaken.
type Seq uint64

// MaxBirth bounds the stamp that a datagram may carry (the year 2116), so that a later one can always be made.
const MaxBirth = 1 << 62

// MaxAge bounds an age in the same way.
const MaxAge time.Duration = 1 << 62

const (
	// MaxSeq bounds what a datagram may carry, so that raising a number never wraps around.
	MaxSeq Seq = 1<<63 - 1
	// seqEpoch separates what one token can reach by hops from what the next token starts with.
	seqEpoch Seq = 1 << 32
	// seqTie separates the copies of one token that several guardians revive at the same time.
	seqTie Seq = 1 << 24
)

// After returns the number of a grant that comes after everything up to s.
func (s Seq) After() Seq { return min(s, MaxSeq-1) + 1 }

// NextEpoch returns the number of a new token whose maker has seen numbers up to s: above everything that the old token
// can have reached since by hops. A member that has seen none starts at 1.
func (s Seq) NextEpoch() Seq {
	if s == 0 {
		return 1
	}
	return min((min(s, MaxSeq)/seqEpoch+1)*seqEpoch, MaxSeq)
}

// Revived returns the number of a token that is revived by a member that has seen numbers up to s: above everything that
// the lost one can have reached since by hops. Two guardians that know nothing of each other and revive the same token
// choose different ties, most probably, so that of two copies one is always higher.
func (s Seq) Revived(tie uint8) Seq { return min(s.NextEpoch()+Seq(tie)*seqTie, MaxSeq) }

// Seconds of Unix time: the year 2000, before which no fleet has made a number, and a day, by which clocks may differ.
const (
	numbersSince = 946_684_800
	leeway       = 24 * 60 * 60
)

// LatestSeq is the highest number that a fleet can have come to when a clock reads wall, in nanoseconds of Unix time: each new
// token and each revival raises it by an epoch, and on average there are fewer of them than seconds since numbersSince. A higher
// one is nobody's honest number, however it came about. The bound needs no other evidence than a clock, so it serves a member
// that has seen no number yet, many small jumps come no further than one large jump, and a day later there is room above a
// number that somebody has raised to it. A clock before numbersSince is wrong; even then an honest fleet stays below leeway.
func LatestSeq(wall int64) Seq {
	const epochs = int64(MaxSeq / seqEpoch)
	return Seq(min(max(wall/1e9-numbersSince, 0)+leeway, epochs)) * seqEpoch
}

// LatestBirth is the latest stamp that a token can have when a clock reads wall. A clock before numbersSince was never set, and
// judges nothing.
func LatestBirth(wall int64) int64 {
	if wall < numbersSince*1e9 {
		return MaxBirth
	}
	return min(wall, MaxBirth-leeway*1e9) + leeway*1e9
}

// MaxSlots is how many tokens a gate can have.
const MaxSlots = 16

// Token is what wanders.
type Token struct {
	ID  TokenID
	Seq Seq
	// Slot says which of its gate's tokens it is, from 0; LastSlot is the last that its holder knows of. Both are zero in a
	// gate with one token.
	Slot, LastSlot uint8
	// Op is how long the protected operation takes on this gate's members, by a running estimate in milliseconds; zero if
	// nobody has measured yet.
	Op uint32
	// Age is for how long its holders have had it, and the handoffs between them have taken, since it was made: somewhat less than its
	// true age, 0 to MaxAge.
	Age time.Duration
	// Route is where it stands on its way round, Trail who guards it; Ack and Commit have none.
	Route Route
	Trail Trail
}

// Grow adds to its age, to the end of the range.
func (t *Token) Grow(d time.Duration) { t.Age = min(t.Age, MaxAge-d) + d }

// Bare is what Ack and Commit say of the token: its generator is NULL, and it carries nothing.
func (t *Token) Bare() Token {
	id := TokenID{Birth: t.ID.Birth, Random: t.ID.Random}
	return Token{ID: id, Seq: t.Seq, Slot: t.Slot, LastSlot: t.LastSlot}
}
