package soft

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Steady is how long a view must not have changed before a [Share] follows it.
const Steady = time.Minute

// Share is how many tokens of a gate are in use, as one member counts them: a number, or a share of the members. A
// share is that of the members in its view, rounded down, at least 1 and at most [wire.MaxSlots]. It changes when the
// view has not changed for [Steady], and is 1 until then.
type Share struct {
	percent int
	// inUse is the number. members is how many the view has, and at when the number follows them; Never if it has.
	inUse, members int
	at             policy.Time
	// fixed is true if the number stays as it is.
	fixed bool
}

// NewShare returns that many percent of the members, none of which has been seen yet; or a number, if percent is zero.
func NewShare(percent, number int) Share {
	if percent > 0 {
		number = 1
	}
	return Share{percent: percent, inUse: number, at: policy.Never}
}

// ShareOf is that many percent of the members, rounded down, at least 1 and at most [wire.MaxSlots].
func ShareOf(members, percent int) int { return min(max(members*percent/100, 1), wire.MaxSlots) }

// IsShare reports whether it is a share of the members.
func (s *Share) IsShare() bool { return s.percent > 0 }

// InUse is how many tokens are in use.
func (s *Share) InUse() int { return s.inUse }

// See takes the size of a view that has changed.
func (s *Share) See(now policy.Time, members int) {
	if s.percent > 0 && !s.fixed {
		s.members, s.at = members, now.Add(Steady)
	}
}

// Fix lets the number stay as it is: this member leaves, and makes nothing for a token that would come into use.
func (s *Share) Fix() { s.fixed, s.at = true, policy.Never }

// Settle follows a view that has not changed for long enough, and reports whether it does so now.
func (s *Share) Settle(now policy.Time) (settles bool) {
	if now < s.at {
		return false
	}
	s.inUse, s.at = ShareOf(s.members, s.percent), policy.Never
	return true
}

// SettlesAt is when the number follows the view; Never if it has.
func (s *Share) SettlesAt() policy.Time { return s.at }
