package call

import "slices"

// turns are of the members whose last offer was not answered, here or at a holder that has told this home of it, in the
// order of these offers.
//
// A member that hears nothing may be heard: it calls, and is the oldest waiter for ever. So those that are known not to
// answer take turns with the others: one of them may be offered the token, the one whose offer was longest ago; if that
// fails, they come after all others, and after the holder itself, until somebody has run or the token has moved on.
// None of them is left out: a member whose answers come late is reached when this member waits for longer.
//
// There may be many of them. A home knows, too, who has not answered a holder, and tells the next holder of one of them
// only, in turn: otherwise each holder would have to find out for all of them before anybody else has the token.
type turns struct {
	hints []uint32
	// last is true after an offer that has failed.
	last bool
}

// mostSilent is how many silent members a member keeps: as many as may wait.
const mostSilent = mostWaiters

// failed notes that a member has not answered an offer from here.
func (t *turns) failed(hint uint32) {
	t.last = true
	t.note(hint)
}

// note notes that a member has not answered. One that is known is now the latest.
func (t *turns) note(hint uint32) {
	if t.forget(hint); len(t.hints) == mostSilent {
		t.hints = t.hints[:copy(t.hints, t.hints[1:])]
	}
	t.hints = append(t.hints, hint)
}

// forget notes that a member has taken the token.
func (t *turns) forget(hint uint32) {
	if i := t.place(hint); i >= 0 {
		t.hints = slices.Delete(t.hints, i, i+1)
	}
}

// place returns the place of a member, earlier ones first; -1 if it is not known to be silent.
func (t *turns) place(hint uint32) int { return slices.Index(t.hints, hint) }

// isLast reports whether a member comes after all others now.
func (t *turns) isLast(hint uint32) bool { return t.last && t.place(hint) >= 0 }
