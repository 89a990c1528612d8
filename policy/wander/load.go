package wander

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// What the token of a soft gate carries behind its trail:
//
//	 64 +--------------------+
//	    | route: lap      4  |
//	 68 +--------------------+
//	    | route: cursor   8  |
//	 76 +--------------------+
//	    | route: hints  4×4  |  missed members: the beginnings of their identities
//	 92 +--------------------+
//	    | route: tries  4×1  |  0 … 4; empty places last, and zero
//	 96 +--------------------+
//	    | op              4  |  milliseconds; 0 if unknown
//	100 +--------------------+
//	    | age             8  |  nanoseconds, 0 … 2⁶²
//	108 +--------------------+
//	    | last slot       1  |  0 … 63; never below the slot
//	109 +--------------------+
//	    | mixed           2  |  seconds since a member with another number of slots was seen, at least 1; 0: none
//	111 +--------------------+
//	    | soak            1  |  what is left of it: see package guardian
//	112 +--------------------+
//
// An Inquiry has nothing but the last slot. An answer to one, a Seen or an Unseen, has in place of the lap how many
// members its sender knows, and in place of the cursor for how long its sender has had no token, in nanoseconds.
const (
	atLap      = guardian.TrailSize
	atCursor   = atLap + 4
	atMissed   = atCursor + 8
	atTries    = atMissed + 4*MaxMissed
	atOp       = atTries + MaxMissed
	atAge      = atOp + 4
	atLastSlot = atAge + 8
	atMixed    = atLastSlot + 1
	mixedEnds  = atMixed + 2
)

// MaxAge bounds an age in a datagram, so that a higher one always exists.
const MaxAge time.Duration = 1 << 62

// RouteOf returns the token's position in the lap. A random walk does not use it.
func RouteOf(l *wire.Load) (r Route) {
	r.Lap = binary.BigEndian.Uint32(l[atLap:])
	r.Cursor = binary.BigEndian.Uint64(l[atCursor:])
	for i := range r.Missed {
		r.Missed[i] = binary.BigEndian.Uint32(l[atMissed+4*i:])
	}
	copy(r.Tries[:], l[atTries:])
	return r
}

// SetRoute sets the token's position in the lap.
func SetRoute(l *wire.Load, r *Route) {
	binary.BigEndian.PutUint32(l[atLap:], r.Lap)
	binary.BigEndian.PutUint64(l[atCursor:], r.Cursor)
	for i, hint := range r.Missed {
		binary.BigEndian.PutUint32(l[atMissed+4*i:], hint)
	}
	copy(l[atTries:], r.Tries[:])
}

// OpOf returns the running estimate of the duration of the protected operation, in milliseconds; zero while unknown.
func OpOf(l *wire.Load) uint32 { return binary.BigEndian.Uint32(l[atOp:]) }

// SetOp sets the estimate.
func SetOp(l *wire.Load, milliseconds uint32) { binary.BigEndian.PutUint32(l[atOp:], milliseconds) }

// AgeOf returns the total time of the token's holders and of the handoffs between them, since it was made: slightly
// less than its true age. 0 to MaxAge.
func AgeOf(l *wire.Load) time.Duration { return time.Duration(binary.BigEndian.Uint64(l[atAge:])) }

// SetAge sets the age.
func SetAge(l *wire.Load, age time.Duration) { binary.BigEndian.PutUint64(l[atAge:], uint64(age)) }

// growBy adds to the age, up to MaxAge.
func growBy(l *wire.Load, d time.Duration) { SetAge(l, min(AgeOf(l), MaxAge-d)+d) }

// LastSlotOf returns the last slot that the token's holder knows; zero in a gate with one token.
func LastSlotOf(l *wire.Load) uint8 { return l[atLastSlot] }

// SetLastSlot sets the last slot.
func SetLastSlot(l *wire.Load, slot uint8) { l[atLastSlot] = slot }

// MixedOf returns how long ago a holder of the token has seen that two members have different numbers of slots; ok is
// false if none has seen that lately.
func MixedOf(l *wire.Load) (ago time.Duration, ok bool) {
	seconds := binary.BigEndian.Uint16(l[atMixed:])
	return time.Duration(seconds) * time.Second, seconds > 0
}

// SetMixed sets that time, rounded up. A time too long ago to be carried counts as never.
func SetMixed(l *wire.Load, ago time.Duration) {
	seconds := ago/time.Second + 1
	if seconds > math.MaxUint16 {
		seconds = 0
	}
	binary.BigEndian.PutUint16(l[atMixed:], uint16(seconds))
}

// MembersOf returns how many members the sender of an answer knows: those that it sees, and those that have left its
// view within max_interval.
func MembersOf(answer *wire.Load) uint32 { return binary.BigEndian.Uint32(answer[atLap:]) }

// SetMembers sets that number.
func SetMembers(answer *wire.Load, n uint32) { binary.BigEndian.PutUint32(answer[atLap:], n) }

// QuietOf returns for how long the sender of an answer has neither held nor guarded a token, nor acknowledged an offer
// of one, nor run; zero if it does so now.
func QuietOf(answer *wire.Load) time.Duration {
	return time.Duration(min(binary.BigEndian.Uint64(answer[atCursor:]), math.MaxInt64))
}

// SetQuiet sets that time.
func SetQuiet(answer *wire.Load, d time.Duration) {
	binary.BigEndian.PutUint64(answer[atCursor:], uint64(d))
}

// clearMixed records that no such difference was seen.
func clearMixed(l *wire.Load) { clear(l[atMixed:mixedEnds]) }

// wellFormedLoad reports whether the load of a token of that slot is one of a soft gate, behind its trail.
func wellFormedLoad(l *wire.Load, slot uint8) bool {
	route, age, last := RouteOf(l), AgeOf(l), LastSlotOf(l)
	return route.wellFormed() && age >= 0 && age <= MaxAge && slot <= last && last < wire.MaxSlots
}

const (
	// MaxMissed is how many missed members a route can list.
	MaxMissed = 4
	// MaxTries is how many holders may fail to reach a member before it has to wait for the next lap.
	MaxTries = 4
)

// Route is a token's position in its lap, for the walks sweep and shuffle; a random walk does not use it. It only
// chooses the next member: safety does not depend on it.
type Route struct {
	// Cursor is the position, in the order of this lap, up to which members have had their turn.
	Cursor uint64
	// Lap counts the begun laps. A lap is one visit to every live member.
	Lap uint32
	// Missed lists the members that a holder could not reach, by the beginnings of their identities, longest wait
	// first. Tries is how many holders have tried each, 1 to MaxTries. Empty places are last and zero.
	Missed [MaxMissed]uint32
	Tries  [MaxMissed]uint8
}

// Take removes place i from the list.
func (r *Route) Take(i int) {
	copy(r.Missed[i:], r.Missed[i+1:])
	copy(r.Tries[i:], r.Tries[i+1:])
	r.Missed[MaxMissed-1], r.Tries[MaxMissed-1] = 0, 0
}

// Miss appends a member to the list. If the list is full, it removes the member that waits longest.
func (r *Route) Miss(hint uint32, tries uint8) {
	at := 0
	for at < MaxMissed && r.Tries[at] > 0 {
		at++
	}
	if at == MaxMissed {
		r.Take(0)
		at--
	}
	r.Missed[at], r.Tries[at] = hint, tries
}

// wellFormed reports whether empty places are last and zero.
func (r *Route) wellFormed() bool {
	for i, tries := range r.Tries {
		if tries > MaxTries || tries == 0 && r.Missed[i] != 0 || i > 0 && tries > 0 && r.Tries[i-1] == 0 {
			return false
		}
	}
	return true
}
