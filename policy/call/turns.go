package call

import "slices"

// turns are of the members whose last offer from here was not answered, in the order of these offers.
//
// A member that hears nothing may be heard: it calls, and is the oldest waiter for ever. So those that are known not to
// answer take turns with the others: one of them may be offered the token, the one whose offer was longest ago; if that
// fails, they come after all others, and after the holder itself, until somebody has run or the token has moved on.
// None of them is left out: a member whose answers come late is reached when this member waits for longer.
type turns struct {
	hints [16]uint32
	// last is true after an offer that has failed.
	last bool
}

// failed notes that a member has not answered an offer. One that is known is now the latest.
func (t *turns) failed(hint uint32) {
	t.last = true
	t.forget(hint)
	copy(t.hints[:], t.hints[1:])
	t.hints[len(t.hints)-1] = hint
}

// forget notes that a member has taken the token.
func (t *turns) forget(hint uint32) {
	if i := t.place(hint); i >= 0 {
		copy(t.hints[1:], t.hints[:i])
		t.hints[0] = 0
	}
}

// place returns the place of a member, earlier ones first; -1 if it is not known to be silent.
func (t *turns) place(hint uint32) int { return slices.Index(t.hints[:], hint) }

// isLast reports whether a member comes after all others now.
func (t *turns) isLast(hint uint32) bool { return t.last && t.place(hint) >= 0 }
