package ballot

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// KindPromise asks its addressee to promise the epoch of the token, and to give this epoch a lease.
	KindPromise wire.Kind = iota + 32
	// KindRenew asks for a new lease of the epoch of the token, which its sender holds.
	KindRenew
	// KindPromised answers a Promise: yes. It carries the newest copy that its sender has.
	KindPromised
	// KindRenewed answers a Renew: yes.
	KindRenewed
	// KindRefused answers a Promise or a Renew: no, because of the lease of another epoch, or because of the promise of
	// a newer one.
	KindRefused
	// KindRelease announces that no token of this epoch exists or ever will exist: the epoch's lease ends. Its sender
	// is a proposer that withdraws, a holder that has discarded its token, or the guard of the holder's command. It has
	// no answer.
	KindRelease
)

// Kinds returns the kinds of message of a ballot.
func Kinds() policy.Kinds {
	return policy.Kinds{
		{Kind: KindPromise, Name: "Promise"},
		{Kind: KindRenew, Name: "Renew"},
		{Kind: KindPromised, Name: "Promised"},
		{Kind: KindRenewed, Name: "Renewed"},
		{Kind: KindRefused, Name: "Refused"},
		{Kind: KindRelease, Name: "Release"},
	}
}

// CopySize is the length of a copy's Data, in bytes.
const CopySize = wire.LoadSize - copyAt

// Copy is the newest state of the gate that a member knows, in the layout of the protocol that owns the ballot.
type Copy struct {
	Seq  wire.Seq
	Data [CopySize]byte
}

// The load of all messages; fields that a kind does not use are zero:
//
//	0        8                  16                 24            32     40
//	| roster | lease, or busy for | a number, see below | clock of an answer | life | copy of a Promised
//
// The number is the promised epoch, or the copy's Seq, or what a Renew asks for (see asks), or whether the sender
// of a Renewed waits. A Renew has an interval that it claims instead of a clock, or lifts, or what is left of a soak; a
// Renewed is busy for the rest of another member's claim, and has that member instead of a copy. In place of a copy, a
// Refused has the longest lease that its sender allows, if it refuses because of that: see overlong.go.
const (
	rosterAt = 0
	spanAt   = 8
	numberAt = 16
	clockAt  = 24
	lifeAt   = 32
	copyAt   = 40
)

// load is what a message of a ballot carries besides the token.
type load struct {
	roster uint64
	// span is the lease that a question asks for; in a Refused it is the time until a lease, or the quarantine of rule
	// 9, ends; in a Renewed, the time until the claim of another member ends, because of which its sender supports the
	// lease and not the claim.
	span time.Duration
	// number is the promised epoch in a Refused, and the copy's Seq in a Promised. In a Renewed it is whether its
	// sender waits for a new epoch. In a Renew it is what the question asks for.
	number uint64
	// clock is the sender's time when it answered. life distinguishes the origin of this time from the origin in any
	// other life. In a Renew, clock is the interval that is claimed, or lifts, or what is left of a soak.
	clock policy.Time
	life  uint64
}

func (l *load) append(to *wire.Load) {
	binary.BigEndian.PutUint64(to[rosterAt:], l.roster)
	binary.BigEndian.PutUint64(to[spanAt:], uint64(l.span))
	binary.BigEndian.PutUint64(to[numberAt:], l.number)
	binary.BigEndian.PutUint64(to[clockAt:], uint64(l.clock))
	binary.BigEndian.PutUint64(to[lifeAt:], l.life)
}

func loadOf(from *wire.Load) load {
	return load{
		roster: binary.BigEndian.Uint64(from[rosterAt:]), span: time.Duration(binary.BigEndian.Uint64(from[spanAt:])),
		number: binary.BigEndian.Uint64(from[numberAt:]), clock: policy.Time(binary.BigEndian.Uint64(from[clockAt:])),
		life: binary.BigEndian.Uint64(from[lifeAt:]),
	}
}

// isQuestion reports whether a message of this kind asks for a lease.
func isQuestion(k wire.Kind) bool { return k == KindPromise || k == KindRenew }

// Owns reports whether a kind of message is a ballot's.
func Owns(k wire.Kind) bool { return k >= KindPromise && k <= KindRelease }

// WellFormed reports whether m is a message of a ballot, and has the fields of its kind: the token of an epoch, the
// number of the question, the lease that is asked for.
func WellFormed(m *wire.Message) bool {
	if !Owns(m.Kind) || m.Nonce != 0 || !IsNumber(m.Token.Seq) || m.Token.ID.Generator.IsZero() {
		return false
	}
	span := loadOf(&m.Load).span
	switch {
	case m.Kind == KindRelease:
		return m.Exchange == 0 && span == 0
	case m.Kind == KindRenew:
		l := loadOf(&m.Load)
		return m.Exchange != 0 && span > 0 && l.number <= uint64(soaks) && l.clock >= lifts &&
			(l.number != uint64(soaks) || l.clock >= 0)
	case isQuestion(m.Kind):
		return m.Exchange != 0 && span > 0
	case m.Kind == KindRefused, m.Kind == KindRenewed:
		return m.Exchange != 0 && span >= 0
	}
	return m.Exchange != 0 && span == 0
}

// message returns a message to the member of a rank about a token. l needs no roster.
func (b *Machine) message(kind wire.Kind, to int, about *wire.Ref, number wire.Exchange, l load) wire.Message {
	m := wire.Message{
		Gate: b.cfg.Gate, Kind: kind, From: b.id(b.cfg.Self), To: b.id(to), Token: *about, Exchange: number,
	}
	l.roster = b.cfg.Roster.Hash()
	l.append(&m.Load)
	return m
}
