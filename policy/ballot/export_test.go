package ballot

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Lease returns the epoch that a member has promised, and when the lease that it has given ends, for the checkers.
func (b *Machine) Lease() (Epoch, policy.Time) { return b.supporter.promised, b.supporter.end }

// Quarantined is until when a restarted member promises no other epoch.
func (b *Machine) Quarantined() policy.Time { return b.supporter.calmAt }

// SetLoad writes the load of a question, or of a refusal.
func SetLoad(to *wire.Load, roster uint64, span time.Duration, number wire.Seq) {
	l := load{roster: roster, span: span, number: uint64(number)}
	l.append(to)
}

// SetAllowed writes the longest lease that the sender of a Refused allows.
func SetAllowed(to *wire.Load, allowed time.Duration) {
	binary.BigEndian.PutUint64(to[copyAt:], uint64(allowed))
}

// AllowedOf returns the longest lease that the sender of a Refused allows.
func AllowedOf(from *wire.Load) time.Duration { return allowedOf(from) }

// LoadOf returns for how long the sender of a Refused is busy, and its promise; or the Seq of the copy in a Promised.
func LoadOf(from *wire.Load) (span time.Duration, number wire.Seq) {
	l := loadOf(from)
	return l.span, wire.Seq(l.number)
}

// WithoutClock removes the sender's clock from an answer.
func WithoutClock(load *wire.Load) {
	clear(load[clockAt:copyAt])
}

// SetClaim makes a Renew claim an interval for a life, or lift a claim.
func SetClaim(to *wire.Load, interval time.Duration, life uint64) {
	l := loadOf(to)
	l.clock, l.life = policy.Time(interval), life
	l.append(to)
}

// SoakOf returns what a Renew says is left of a soak; zero if it says nothing of one.
func SoakOf(from *wire.Load) time.Duration {
	l := loadOf(from)
	if asks(l.number) != soaks {
		return 0
	}
	return time.Duration(l.clock)
}

// IsProbe reports whether a Renew lends nothing.
func IsProbe(from *wire.Load) bool { return asks(loadOf(from).number) == probes }

// ClaimerOf returns whose claim the sender of a Renewed supports.
func ClaimerOf(from *wire.Load) wire.MemberID { return wire.MemberID(from[copyAt:]) }
