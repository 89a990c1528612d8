// Package policy is the contract between a token protocol and the shell that runs it.
//
// A protocol is a [Machine]: one call in, effects out, deadlines as plain state. It has no clock, does no I/O and
// starts no goroutine; time, randomness and the network reach it as arguments. The agent and the simulator run the same
// machines.
//
// A machine never sees bytes: the shell drops every message that does not parse or does not authenticate. A message
// that parses but is out of place leads to a note and changes nothing.
//
// Its decisions, in docs/decisions: 001, 002, 003, 004, 005, 006, 007, 008, 010, 041, 042, 050, 055.
package policy

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Machine is one member's part in one gate.
type Machine interface {
	// Step applies ev at now and appends what must be done, in order. The shell carries the effects out in that order,
	// and waits for none of them. now never goes back; an early Woke does nothing. Step keeps neither ev nor out; it
	// may keep ev.Peers, which never changes afterwards.
	Step(now Instant, ev *Event, out []Effect) []Effect

	// NextWake returns when Step must next be called if nothing else happens.
	NextWake() (at Time, ok bool)

	// Expects reports whether m could change anything now. The shell asks before it spends time on checking m's
	// signature, so the answer may depend only on m itself and the state.
	Expects(m *wire.Message) bool

	// Status describes this member for operators, as of now.
	Status(now Time) Status

	// Facts appends the other facts about this member, as of now.
	Facts(now Time, out []Fact) []Fact

	// String returns one line for traces.
	String() string
}

// Slotted is a machine of a gate with several tokens. Its Status is that of its busiest slot.
type Slotted interface {
	Slots() int
	// SlotStatus is the status of one slot; it is zero if there is no such slot.
	SlotStatus(slot int, now Time) Status
}

// Askable is a machine whose own operation can wait until its host reports that it needs a run, and whose callers can
// wait, too, while no run may start at all.
type Askable interface {
	// SetReady tells the machine whether the operation may be due, and whether a run may start for a caller; where none
	// may, the operation may not be due either. A machine that was told nothing assumes that both may. A run that has
	// begun is not affected. When either turns true the shell sends Woke, so that a resting token is reconsidered.
	SetReady(own, callers bool)
	// DueAt is when the operation is due, if the host is ready then. It is Never while nothing is to be run.
	DueAt(now Time) Time
}

// Renewable is a machine that makes a new token at an operator's request, in place of one that is lost.
type Renewable interface {
	// Knows describes what this member knows of the token of a slot, and completes "this host …"; it is empty if this
	// member knows of none. Only then [Renew] makes a new token.
	Knows(slot int, now Time) string
}

// Tunable is a machine whose settings can change while it holds a token or runs.
type Tunable interface {
	// Tune replaces the settings of the machine's protocol, and reports whether it did. It cannot if p has other
	// members or another number of tokens; then nothing changes. The shell sends Woke afterwards, so that a resting
	// token is reconsidered.
	Tune(p Protocol) bool
}

// Entropy is the source of handoff identities, nonces, random ids and random choices. *rand.PCG is one; an agent's is
// cryptographic.
type Entropy interface{ Uint64() uint64 }

// Draw draws an identity of a handoff or a question, or a nonce: any number but zero, because zero stands for none in
// all of these.
func Draw(from Entropy) uint64 {
	for {
		if n := from.Uint64(); n != 0 {
			return n
		}
	}
}

// Time is monotonic time in nanoseconds since an origin of the shell's choosing, before which no Step happens. It is
// negative for what happened before the shell started.
type Time int64

// Never is later than everything that happens.
const Never Time = math.MaxInt64

// Add returns t + d, limited to the range of Time: a deadline beyond the range never becomes one in the past.
func (t Time) Add(d time.Duration) Time {
	sum := t + Time(d)
	switch {
	case d > 0 && sum < t:
		return Never
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// Sub returns t - u, limited to the range of a duration: what was due long ago is never due in centuries.
func (t Time) Sub(u Time) time.Duration {
	switch d := time.Duration(t - u); {
	case t < u && d > 0:
		return math.MinInt64
	case t > u && d < 0:
		return math.MaxInt64
	default:
		return d
	}
}

// Times returns n × d, limited to the end of the range. Neither may be negative.
func Times(n int, d time.Duration) time.Duration {
	if high, product := bits.Mul64(uint64(n), uint64(d)); high == 0 && product <= math.MaxInt64 {
		return time.Duration(product)
	}
	return math.MaxInt64
}

// Instant is a moment on both clocks of a host.
type Instant struct {
	// Time is the time by which every rule is measured.
	Time Time
	// Wall is Unix time in nanoseconds. Only a token's birth stamp and the directives of operators read it.
	Wall int64
}

// State is what a member must not forget when it restarts.
type State struct {
	// Seq is the highest fencing number that was saved.
	Seq wire.Seq
	// HasRun is true if LastRun is set.
	HasRun bool
	// LastRun is when the protected operation last started.
	LastRun Time
	// Directive is the newest directive that this member knows. Here is when a pause of this member alone ends, in
	// nanoseconds of Unix time. Package directive keeps both.
	Directive wire.Directive
	Here      int64
	// Kept is a grant that outlives its host: this member's own, or one that it supports.
	Kept Kept
	// Claim is the interval that a member has claimed for its run: this one, or one that it supports.
	Claim Claim
	// Memo is the protocol's own.
	Memo Memo
}

// Memo is what one protocol must not forget, in a layout of its own. On disk it is stored with the protocol's name and
// version.
type Memo [48]byte

// MarshalText returns the memo in hexadecimal digits.
func (m Memo) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, m[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (m *Memo) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(m) {
		return fmt.Errorf("a memo that is not %d bytes in hexadecimal digits", len(m))
	}
	*m = Memo(b)
	return nil
}
