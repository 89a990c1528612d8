package call

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// The messages by which the token is called, besides those of a handoff and of guardians.
const (
	// KindCall asks a home for the token. The exchange is the wait; the nonce is its age in nanoseconds, at least 1, or
	// 0 if the sender no longer waits.
	KindCall wire.Kind = iota + 64
	// KindQueued answers a Call: the wait is in the sender's queue. The nonce is a pause after which the caller calls
	// again. The message has the token as the sender knows it, its holder, and the first home.
	KindQueued
	// KindNext tells who waits, oldest first. To the holder its nonce is 0, to a home 1. It is 2 if these members did
	// not answer an offer, and 3 if these waits are over.
	KindNext
	// KindWhere answers a Call, a Next or a Seek at a member that does not queue, or does not hold the token: the
	// token, its holder and the first home, as far as the sender knows them.
	KindWhere
	// KindSeek asks where the token is. The nonce is the age of the question in nanoseconds, at least 1.
	KindSeek
	// KindNone answers a Seek: since the question began, its sender has neither held nor guarded a token, nor
	// acknowledged an offer, nor run.
	KindNone
)

// Kinds returns the kinds of message of the gate.
func Kinds() policy.Kinds {
	own := policy.Kinds{
		{Kind: KindCall, Name: "Call"},
		{Kind: KindQueued, Name: "Queued"},
		{Kind: KindNext, Name: "Next"},
		{Kind: KindWhere, Name: "Where"},
		{Kind: KindSeek, Name: "Seek"},
		{Kind: KindNone, Name: "None"},
	}
	return slices.Concat(handoff.Kinds(), guardian.Kinds(), own)
}

// mostTold is how many waiters a Next lists.
const mostTold = 9

// The load of a token has its trail, the wait that the visit of its holder serves, and how far away the holder is:
//
//	64 +--------------------+
//	   | served: hint    4  |  the beginning of the member's identity
//	68 +--------------------+
//	   | served: wait    4  |  the end of the wait's identity; 0 if it serves none
//	72 +--------------------+
//	   | trip            4  |  a round trip of the holder, in milliseconds; 0 if it is unknown
//	76 +--------------------+
//	   | zeros          35  |
//	111+--------------------+
//	   | soak            1  |  what is left of it: see package guardian
//	112+--------------------+
//
// A Queued and a Where have two identities: the holder and the first home. A Queued also has, for operators, how many
// wait before the caller, and for how many milliseconds the sender has known that holder with that number; 4 bytes
// each. A Next has up to nine waiters: the beginning of the identity, the age in milliseconds, the end of the wait's
// identity. Empty places are last and zero.
const (
	atServed     = guardian.TrailSize
	atServedWait = atServed + 4
	atTrip       = atServedWait + 4
	tripEnds     = atTrip + 4
	identity     = len(wire.MemberID{})
	atBefore     = 2 * identity
	atHeld       = atBefore + 4
	queuedEnds   = atHeld + 4
	toldSize     = 12
)

// waitID is the end of the identity of a wait, as others know it.
type waitID uint32

func waitOf(id wire.Exchange) waitID { return waitID(id) }

// served is a wait that a visit of the token serves.
type served struct {
	hint uint32
	wait waitID
}

func servedOf(l *wire.Load) served {
	return served{binary.BigEndian.Uint32(l[atServed:]), waitID(binary.BigEndian.Uint32(l[atServedWait:]))}
}

func setServed(l *wire.Load, s served) {
	binary.BigEndian.PutUint32(l[atServed:], s.hint)
	binary.BigEndian.PutUint32(l[atServedWait:], uint32(s.wait))
}

// setTrip writes a round trip of the holder.
func setTrip(l *wire.Load, trip time.Duration) {
	binary.BigEndian.PutUint32(l[atTrip:], milliseconds(trip))
}

// tripOf reads it. A holder that claims to be further away than a handoff may be is not believed.
func (c *Config) tripOf(l *wire.Load) time.Duration {
	const patiences = 8
	trip := time.Duration(binary.BigEndian.Uint32(l[atTrip:])) * time.Millisecond
	return min(trip, policy.Times(patiences, c.patience()))
}

func setPlaces(l *wire.Load, holder, home wire.MemberID) {
	copy(l[:], holder[:])
	copy(l[identity:], home[:])
}

func placesOf(l *wire.Load) (holder, home wire.MemberID) {
	return wire.MemberID(l[:identity]), wire.MemberID(l[identity : 2*identity])
}

// setTurn writes how many wait before a caller, and for how long the holder has had the token.
func setTurn(l *wire.Load, before int, held time.Duration) {
	binary.BigEndian.PutUint32(l[atBefore:], uint32(before))
	binary.BigEndian.PutUint32(l[atHeld:], milliseconds(held))
}

func turnOf(l *wire.Load) (before int, held time.Duration) {
	return int(binary.BigEndian.Uint32(l[atBefore:])),
		time.Duration(binary.BigEndian.Uint32(l[atHeld:])) * time.Millisecond
}

// milliseconds writes a time in 4 bytes: 49 days at most.
func milliseconds(d time.Duration) uint32 { return uint32(min(max(d, 0)/time.Millisecond, 1<<32-1)) }

// told is one waiter in a Next.
type told struct {
	hint uint32
	age  time.Duration
	wait waitID
}

func toldOf(l *wire.Load, i int) told {
	b := l[i*toldSize:]
	return told{
		binary.BigEndian.Uint32(b), time.Duration(binary.BigEndian.Uint32(b[4:])) * time.Millisecond,
		waitID(binary.BigEndian.Uint32(b[8:])),
	}
}

func setTold(l *wire.Load, i int, t told) {
	b := l[i*toldSize:]
	binary.BigEndian.PutUint32(b, t.hint)
	binary.BigEndian.PutUint32(b[4:], milliseconds(t.age))
	binary.BigEndian.PutUint32(b[8:], uint32(t.wait))
}

// Tell writes a waiter into the load of a Next, as a home does: for simulated homes that lie.
func Tell(l *wire.Load, i int, id wire.MemberID, age time.Duration, wait uint32) {
	setTold(l, i, told{id.Hint(), age, waitID(wait)})
}

// wellFormed reports whether m is a message of a gate on call, and has the fields of its kind.
func wellFormed(m *wire.Message) bool {
	if m.Token.Slot >= wire.MaxSlots {
		return false
	}
	none, known := m.Token == wire.Ref{Slot: m.Token.Slot}, m.Token.IsWhole()
	switch m.Kind {
	case KindCall:
		return m.Exchange != 0 && m.Nonce <= maxAge && none && m.Load == wire.Load{}
	case KindSeek:
		return m.Exchange != 0 && m.Nonce != 0 && m.Nonce <= maxAge && none && m.Load == wire.Load{}
	case KindNone:
		return m.Exchange != 0 && m.Nonce == 0 && none && m.Load == wire.Load{}
	case KindQueued:
		before, held := turnOf(&m.Load)
		return m.Exchange != 0 && m.Nonce != 0 && m.Nonce <= maxAge && (none || known) && before <= mostWaiters &&
			(known || held == 0) && zeroFrom(&m.Load, queuedEnds)
	case KindWhere:
		return m.Exchange != 0 && m.Nonce == 0 && (none || known) && zeroFrom(&m.Load, 2*identity)
	case KindNext:
		return m.Exchange != 0 && m.Nonce <= nextAfter && (known || none && m.Nonce != nextHolder) &&
			wellTold(&m.Load)
	case handoff.KindAck, handoff.KindCommit:
		return handoff.WellFormed(m) && m.Load == wire.Load{}
	}
	load := m.Load
	guardian.SetSoakLeft(&load, 0)
	if !guardian.WellFormedTrail(&load) || !zeroFrom(&load, tripEnds) {
		return false
	}
	if m.Kind == handoff.KindToken {
		return handoff.WellFormed(m)
	}
	return guardian.WellFormed(m)
}

// maxAge bounds an age in a datagram.
const maxAge = 1 << 62

func zeroFrom(l *wire.Load, from int) bool {
	for _, b := range l[from:] {
		if b != 0 {
			return false
		}
	}
	return true
}

// wellTold reports whether a load lists at least one waiter, and empty places are last and zero.
func wellTold(l *wire.Load) bool {
	for i := range mostTold {
		if t := toldOf(l, i); t.wait == 0 {
			return i > 0 && zeroFrom(l, i*toldSize)
		}
	}
	return zeroFrom(l, mostTold*toldSize)
}
