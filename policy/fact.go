package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Fact is an additional line of a member's status, for what one protocol reports and others do not. Key is its subject,
// and determines which of the other fields has its value. Text may explain that value; Slot is 0 in a gate with one
// token.
type Fact struct {
	Key    Key
	Slot   uint8
	At     Time
	For    time.Duration
	Count  int
	Member wire.MemberID
	Text   string
}

// Key is the subject of a fact.
type Key uint8

// The keys that machines report. What each means is in [Key.Info], because people read that too.
const (
	KeyNextRun Key = iota + 1
	KeyWalk
	KeySkip
	KeyMinInterval
	KeyBackups
	KeySlotsShare
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
	KeyKeeps
	KeyGuardian
	KeyPromised
	KeyKept
	KeySoakUntil
	KeyClaimed
	KeyLeaseUntil
	KeyLeastLease
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
	KeyHeard
	KeyHome
	KeyWaiters
	KeyWaiter
	KeyCalls
	KeyQueued
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

// KeyInfo describes a key.
type KeyInfo struct {
	// Name is the form used by status, its JSON and logs.
	Name string
	Unit Unit
	// Doc describes the value.
	Doc string
}

// Info returns the description of a key.
func (k Key) Info() KeyInfo {
	known := []KeyInfo{
		KeyNextRun:         {"next_run", Moment, "the earliest time of the next run"},
		KeyWalk:            {"walk", Words, "in which order the token goes to the members"},
		KeySkip:            {"skip", Span, "how long the token rests at each member"},
		KeyMinInterval:     {"min_interval", Span, "the least time between two runs of a member"},
		KeyBackups:         {"backups", Number, "how many members keep a copy of a token"},
		KeySlotsShare:      {"slots_share", Number, "for how many of a hundred members there is a token"},
		KeyOnLost:          {"on_lost", Words, "how a run ends whose token another member has revived"},
		KeyAskBeforeRun:    {"ask_before_run", Words, "\"true\" if this member asks all others before it runs"},
		KeyOp:              {"op", Span, "how long a run takes; the text says how that is known"},
		KeyMaxInterval:     {"max_interval", Span, "after how long something is wrong without a run; see the text"},
		KeyRegenerateAfter: {"regenerate_after", Span, "after how long without a token this member makes a new one"},
		KeyRegenerateAt:    {"regenerate_at", Moment, "when this member makes a new token, if none comes before"},
		KeyIntervalEnds:    {"interval_ends", Moment, "when the interval after the last run ends"},
		KeyRetry:           {"retry", Number, "how many runs have failed in a row"},
		KeyLap:             {"lap", Span, "how long a lap of the token takes"},
		KeyTooShort:        {"too_short", Words, "which constant is too short for a lap"},
		KeyRoundTrip:       {"round_trip", Span, "how long answers take on this network, if that is too long for skip"},
		KeyLeastSkip:       {"least_skip", Span, "the least skip for this network, if skip is shorter"},
		KeyWaitsForFleet:   {"waits_for_fleet", Span, "for how long this member waits for the fleet it was in"},
		KeyWindow:          {"window", Words, "a window in which the gate may run"},
		KeyWindowOpens:     {"window_opens", Moment, "when the next window opens, if none is open"},
		KeyWindowOpened:    {"window_opened", Moment, "when the open window opened"},
		KeyWindowCloses:    {"window_closes", Moment, "when the open window closes; Never, if it does not"},
		KeyKeeps:           {"guards", Identity, "the holder for which this member keeps a copy of the token"},
		KeyGuardian:        {"guardian", Identity, "a member that keeps a copy of the token that is here"},
		KeyPromised:        {"promised", Words, "the epoch that this member has promised, and until when"},
		KeyKept:            {"kept", Words, "the member whose grant outlives its host, and until when at most"},
		KeySoakUntil:       {"soak_until", Moment, "when the soak of another host is over: nobody starts before"},
		KeyClaimed:         {"claimed", Words, "the member whose run counts for all, and until when"},
		KeyLeaseUntil:      {"lease_until", Moment, "the end of the lease that a majority has given"},
		KeyLeastLease:      {"least_lease", Span, "the least lease for this network, if the lease is shorter"},
		KeyMissing:         {"missing", Words, "which members are missing for a majority"},
		KeyOutsider:        {"outsider", Identity, "a member that is not in the roster"},
		KeyOtherRoster:     {"other_roster", Identity, "a member with another roster"},
		KeyClockRate:       {"clock_rate", Identity, "a member whose clock runs too fast or too slow; see the text"},
		KeyRecovery:        {"recovery", Words, "how a lost token is replaced"},
		KeyPos:             {"pos", Number, "this member's place in the queue"},
		KeyLast:            {"last", Identity, "to whom this member sends its request"},
		KeyNext:            {"next", Identity, "to whom this member passes the token"},
		KeyPred:            {"pred", Identity, "the member before this one in the queue"},
		KeyCounter:         {"counter", Number, "the counter in the token"},
		KeyHeard:           {"heard", Moment, "when this member last heard of the token, which it does not hold"},
		KeyHome:            {"home", Identity, "a home, as this member chooses them; the first is called first"},
		KeyWaiters:         {"waiters", Number, "how many members wait; the text is as what this member knows it"},
		KeyWaiter:          {"waiter", Identity, "a member that waits, since when, and a text if it does not answer"},
		KeyCalls:           {"calls", Moment, "since when this member has been calling the token"},
		KeyQueued:          {"queued", Identity, "who queued this member's call, when, and how many wait before it"},
	}
	if k == 0 || int(k) >= len(known) {
		return KeyInfo{Name: Name(nil, k)}
	}
	return known[k]
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

// Find returns the first fact with a key, or nil if there is none.
func Find(facts []Fact, k Key) *Fact {
	for i := range facts {
		if facts[i].Key == k {
			return &facts[i]
		}
	}
	return nil
}
