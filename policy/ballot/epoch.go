package ballot

import (
	"fmt"

	"github.com/wanderd/wanderd/wire"
)

// An epoch in the high bits of a fencing number, from the left:
//
//	| counter, 32 bits | rank, 8 bits | hop, 23 bits |
const (
	hopBits  = 23
	rankBits = 8

	counterShift = hopBits + rankBits
	hopMask      = 1<<hopBits - 1
	maxCounter   = 1<<32 - 1

	second = 1e9 // nanoseconds
)

// IsNumber reports whether a number is of a ballot's token.
func IsNumber(seq wire.Seq) bool { return EpochOf(seq).counter() > 0 }

// Epoch numbers the life of one token, from the ballot that made the token to its end. It is the token's fencing number
// at hop 0.
//
// "Epoch: (counter, roster index), so that no two proposers share one; the counter is at least Unix seconds, so that a
// member that lost its state does not repeat one. A token lives and dies in one epoch. Seq = (epoch, hop), compared
// left to right: the fencing number." (rule 1)
type Epoch uint64

// EpochOf returns the epoch of a fencing number.
func EpochOf(seq wire.Seq) Epoch { return Epoch(seq &^ hopMask) }

func epochOf(counter uint64, rank int) Epoch {
	return Epoch(counter<<counterShift | uint64(rank)<<hopBits)
}

// counter is at least the Unix time of the proposal in seconds.
func (e Epoch) counter() uint64 { return uint64(e) >> counterShift }

// Rank returns the rank of the epoch's proposer.
func (e Epoch) Rank() int { return int(uint64(e) >> hopBits & (1<<rankBits - 1)) }

// Token returns the token of the epoch at hop 0; generator is the member of the epoch's rank.
func (e Epoch) Token(generator wire.MemberID) wire.Ref {
	return wire.Ref{
		ID:  wire.TokenID{Birth: int64(e.counter() * second), Generator: generator, Random: uint64(e)},
		Seq: wire.Seq(e),
	}
}

// String returns counter.rank.
func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.counter(), e.Rank()) }

// hasMoved reports whether a number is not the first of its epoch: the token was granted, or handed over.
func hasMoved(seq wire.Seq) bool { return seq&hopMask > 0 }

// isLastHop reports whether the epoch has no number left after this one. Every handoff and every grant takes one of the
// epoch's 8,388,351 numbers. The numbers above them are for owners that raise the number of an offer themselves, by at
// most MaxRoster.
func isLastHop(seq wire.Seq) bool { return seq&hopMask >= hopMask-MaxRoster }

// Latest returns the highest number that a token of a strict gate can have when a clock reads wall, in nanoseconds of
// Unix time. A fleet makes fewer than one proposal a second, and clocks differ by less than a day. Without this bound,
// one forged epoch near the end of the counters would end the gate for good, whatever message it comes with. A clock
// before 2000 was never set: then every number up to the last one is possible.
func Latest(wall int64) wire.Seq {
	const day = 24 * 60 * 60
	if wall < year2000 {
		return wire.MaxSeq
	}
	return wire.Seq(min(uint64(wall/second)+day, maxCounter)<<counterShift | (1<<counterShift - 1))
}

// year2000 is a time before which no clock was ever set.
const year2000 = 946_684_800 * second

// believable reports whether a fleet can have reached an epoch when a clock reads wall.
func believable(e Epoch, wall int64) bool { return e <= Epoch(Latest(wall)) }

// epochAfter returns the first epoch of a rank above seen. wall is the wall clock in nanoseconds of Unix time. ok is
// false if there is no such epoch: the counters end in the year 2106.
func epochAfter(seen Epoch, wall int64, rank int) (e Epoch, ok bool) {
	counter := max(uint64(max(wall, 0))/second, seen.counter()+1)
	return epochOf(counter, rank), counter <= maxCounter
}
