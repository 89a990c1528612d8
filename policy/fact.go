package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Fact is one more line of a member's status: what one protocol has to tell and others have not. Key says what it is about, and which
// of the other fields has its value. Text may explain that value; Slot is 0 in a gate with one token.
type Fact struct {
	Key    Key
	Slot   uint8
	At     Time
	For    time.Duration
	Count  int
	Member wire.MemberID
	Text   string
}

// Key says what a fact is about.
type Key uint8

// What machines tell. The comments are in [Key.Info], because people read them too.
const (
	KeyNextRun Key = iota + 1
	KeyWalk
	KeySkip
	KeyMinInterval
	KeyBackups
	KeyOnLost
	KeyAskBeforeRun
	KeyOp
	KeyMaxInterval
	KeyRegenerateAfter
	KeyRegenerateAt
	KeyIntervalEnds
	KeyRetry
	KeyLap
	KeyTooShort
	KeyRoundTrip
	KeyLeastSkip
	KeyWaitsForFleet
	KeyWindow
	KeyWindowOpens
	KeyWindowOpened
	KeyWindowCloses
	KeyGuards
	KeyGuardian
	KeyPromised
	KeyLeaseUntil
	KeyMissing
	KeyOutsider
	KeyOtherRoster
	KeyClockRate
	KeyRecovery
	KeyPos
	KeyLast
	KeyNext
	KeyPred
	KeyCounter
	keys
)

// Unit is the kind of a fact's value.
type Unit uint8

const (
	// Words are in Text.
	Words Unit = iota + 1
	// Moment is At.
	Moment
	// Span is For.
	Span
	// Number is Count.
	Number
	// Identity is Member.
	Identity
)

// KeyInfo is what is known of a key.
type KeyInfo struct {
	// Name is the form used by status, its JSON and logs.
	Name string
	Unit Unit
	// Doc says what the value is.
	Doc string
}

// Info returns what is known of a key.
func (k Key) Info() KeyInfo {
	switch k {
	case KeyNextRun:
		return KeyInfo{"next_run", Moment, "the earliest time of the next run"}
	case KeyWalk:
		return KeyInfo{"walk", Words, "in which order the token goes to the members"}
	case KeySkip:
		return KeyInfo{"skip", Span, "how long the token rests at each member"}
	case KeyMinInterval:
		return KeyInfo{"min_interval", Span, "the least time between two runs of a member"}
	case KeyBackups:
		return KeyInfo{"backups", Number, "how many members keep a copy of a token"}
	case KeyOnLost:
		return KeyInfo{"on_lost", Words, "how a run ends whose token another member has revived"}
	case KeyAskBeforeRun:
		return KeyInfo{"ask_before_run", Words, "\"true\" if this member asks all others before it runs"}
	case KeyOp:
		return KeyInfo{"op", Span, "how long a run takes; the text says how that is known"}
	case KeyMaxInterval:
		return KeyInfo{"max_interval", Span, "after how long without a run something is wrong; the text is the rule that gives it"}
	case KeyRegenerateAfter:
		return KeyInfo{"regenerate_after", Span, "after how long without a token this member makes a new one"}
	case KeyRegenerateAt:
		return KeyInfo{"regenerate_at", Moment, "when this member makes a new token, if none comes before"}
	case KeyIntervalEnds:
		return KeyInfo{"interval_ends", Moment, "when the interval after the last run ends"}
	case KeyRetry:
		return KeyInfo{"retry", Number, "how many runs have failed in a row"}
	case KeyLap:
		return KeyInfo{"lap", Span, "how long a lap of the token takes"}
	case KeyTooShort:
		return KeyInfo{"too_short", Words, "which constant is too short for a lap"}
	case KeyRoundTrip:
		return KeyInfo{"round_trip", Span, "how long answers take on this network, if that is too long for skip"}
	case KeyLeastSkip:
		return KeyInfo{"least_skip", Span, "the least skip for this network, if skip is shorter"}
	case KeyWaitsForFleet:
		return KeyInfo{"waits_for_fleet", Span, "for how long this member waits for the fleet it was in"}
	case KeyWindow:
		return KeyInfo{"window", Words, "a window in which the gate may run"}
	case KeyWindowOpens:
		return KeyInfo{"window_opens", Moment, "when the next window opens, if none is open"}
	case KeyWindowOpened:
		return KeyInfo{"window_opened", Moment, "when the open window opened"}
	case KeyWindowCloses:
		return KeyInfo{"window_closes", Moment, "when the open window closes; Never, if it does not"}
	case KeyGuards:
		return KeyInfo{"guards", Identity, "the holder for which this member keeps a copy of the token"}
	case KeyGuardian:
		return KeyInfo{"guardian", Identity, "a member that keeps a copy of the token that is here"}
	case KeyPromised:
		return KeyInfo{"promised", Words, "the epoch that this member has promised, and until when"}
	case KeyLeaseUntil:
		return KeyInfo{"lease_until", Moment, "the end of the lease that a majority has given"}
	case KeyMissing:
		return KeyInfo{"missing", Words, "which members are missing for a majority"}
	case KeyOutsider:
		return KeyInfo{"outsider", Identity, "a member that is not in the roster"}
	case KeyOtherRoster:
		return KeyInfo{"other_roster", Identity, "a member with another roster"}
	case KeyClockRate:
		return KeyInfo{"clock_rate", Identity, "a member whose clock runs too fast or too slow; the text says how much"}
	case KeyRecovery:
		return KeyInfo{"recovery", Words, "how a lost token is replaced"}
	case KeyPos:
		return KeyInfo{"pos", Number, "this member's place in the queue"}
	case KeyLast:
		return KeyInfo{"last", Identity, "to whom this member sends its request"}
	case KeyNext:
		return KeyInfo{"next", Identity, "to whom this member passes the token"}
	case KeyPred:
		return KeyInfo{"pred", Identity, "the member before this one in the queue"}
	case KeyCounter:
		return KeyInfo{"counter", Number, "the counter in the token"}
	case keys:
	}
	return KeyInfo{Name: Name(nil, k)}
}

// String returns the key's name.
func (k Key) String() string { return k.Info().Name }

// Keys returns all keys, in order.
func Keys() []Key {
	list := make([]Key, 0, keys-1)
	for k := KeyNextRun; k < keys; k++ {
		list = append(list, k)
	}
	return list
}

// Find returns the first of some facts with a key; nil, if there is none.
func Find(facts []Fact, k Key) *Fact {
	for i := range facts {
		if facts[i].Key == k {
			return &facts[i]
		}
	}
	return nil
}
