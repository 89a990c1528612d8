package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A number that is too high for this world would be the last one: nothing could be raised above it, and fencing would be over
// for good, also when the member that sent it has long been removed. So what a member hears is held against its clock.

// numbers are the fencing numbers and stamps that this member goes by.
type numbers struct {
	// seen is the highest fencing number seen, granted the highest one that may have been used for a run here, unsaved that of a new epoch
	// that may not be saved yet, or zero.
	seen, granted, unsaved wire.Seq
	// newest is the latest birth stamp seen.
	newest int64
}

// believes reports whether a token's number can be: no higher than this member has seen, or than any fleet can have come to by
// this member's clock.
func (m *Machine) believes(now policy.Instant, t *wire.Ref) bool {
	return t.Seq <= m.numbers.seen || t.Seq <= wire.LatestSeq(now.Wall)
}

// witness remembers the number and the stamp of a token that is offered to this member, also if it never arrives: a new
// token made here is to come after it. A stamp in the future is not remembered: it would make every later token of this member
// the youngest. Its token is no worse for that; when it meets another, the older survives.
func (m *Machine) witness(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	t := &msg.Token
	m.numbers.seen = max(m.numbers.seen, t.Seq)
	if t.ID.Birth > wire.LatestBirth(now.Wall) {
		return policy.AppendTell(out, NoteBirthRefused, msg.From, t)
	}
	m.numbers.newest = max(m.numbers.newest, t.ID.Birth)
	return out
}

// forgetFuture forgets the newest stamp if this member's clock has been set back from a future in which it saw or made it.
func (m *Machine) forgetFuture(now policy.Instant) {
	if m.numbers.newest > wire.LatestBirth(now.Wall) {
		m.numbers.newest = 0
	}
}
