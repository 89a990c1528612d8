package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// One impossibly high number would end fencing for good: no number could be raised above it, even after its sender was
// removed. So a member compares the numbers that it receives with its clock.

// numbers are the fencing numbers and stamps that this member goes by.
type numbers struct {
	// seen is the highest fencing number seen, granted the highest one that may have been used for a run here, unsaved the number of a new epoch that may
	// not be saved yet, or zero.
	seen, granted, unsaved wire.Seq
	// newest is the latest birth stamp seen.
	newest int64
}

// believes reports whether a token's number is possible: not above the highest that this member has seen, or not above the highest that
// a fleet can have reached by this member's clock.
func (m *Machine) believes(now policy.Instant, t *wire.Ref) bool {
	return t.Seq <= m.numbers.seen || t.Seq <= wire.LatestSeq(now.Wall)
}

// witness records the number and the stamp of a token that is offered to this member, even if it never arrives: a new token made here must have a higher
// number and a later stamp. A stamp in the future is not recorded, because it would make every later token of this member the youngest. The token is still
// accepted; if it meets another one, the older survives.
func (m *Machine) witness(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	t := &msg.Token
	m.numbers.seen = max(m.numbers.seen, t.Seq)
	if t.ID.Birth > wire.LatestBirth(now.Wall) {
		return policy.AppendTell(out, NoteBirthRefused, msg.From, t)
	}
	m.numbers.newest = max(m.numbers.newest, t.ID.Birth)
	return out
}

// forgetFuture forgets the newest stamp if it is in the future: this member's clock has been set back since it saw or made that stamp.
func (m *Machine) forgetFuture(now policy.Instant) {
	if m.numbers.newest > wire.LatestBirth(now.Wall) {
		m.numbers.newest = 0
	}
}
