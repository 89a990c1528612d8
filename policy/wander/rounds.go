package wander

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// maxRounds is how many of its last rounds a member remembers.
const maxRounds = 6

// rounds are the last times from one token that left this member to the next, and how many members a lap had then; the next over the
// oldest. They begin and end with the same token, where there is one.
type rounds struct {
	took    [maxRounds]time.Duration
	members [maxRounds]uint32
	count   uint8
}

func (r *rounds) add(took time.Duration, members int) {
	at := r.count % maxRounds
	r.took[at], r.members[at] = took, uint32(members)
	// Once all places are taken the count goes round above them.
	if r.count++; r.count == 2*maxRounds {
		r.count = maxRounds
	}
}

// lap is what a lap of so many members takes: the second longest of the last rounds, zero if there have not been two. So one in which a hook
// hung, or this member was away, counts for nothing, and neither does one that a second token cut short. Where members have left since, a lap
// takes less. Where members have come nobody knows: they may only take what the token has rested for.
func (r *rounds) lap(members int) time.Duration {
	n := min(int(r.count), maxRounds)
	if n < 2 {
		return 0
	}
	took := r.took
	for i := range n {
		if then := int(r.members[i]); members < then {
			took[i] = took[i] / time.Duration(then) * time.Duration(members)
		}
	}
	slices.Sort(took[:n])
	return took[n-2]
}

// passed is what left this member for others.
type passed struct {
	// any says that token, to and at mean something: the oldest token that was passed on from here of late, to whom, and when.
	any   bool
	token wire.TokenID
	to    wire.MemberID
	at    policy.Time
	// leftAt is when the last token left, of whatever age; rounds are how long it took, each time, until the next one did, and lap is what
	// a lap takes by them, zero while nobody knows.
	leftAt policy.Time
	rounds rounds
	lap    time.Duration
}

// notePassed remembers the token that leaves; rather than this one an older one that may still be there. Where the token has been there for
// longer than none has left from here, that was a round.
func (m *Machine) notePassed(now policy.Time, t *guardian.Token, to wire.MemberID) {
	if since := now.Sub(m.passed.leftAt); m.passed.any && since <= AgeOf(&t.Load) {
		m.passed.rounds.add(since, m.lapLength())
		m.passed.lap = m.passed.rounds.lap(m.lapLength())
	}
	m.passed.leftAt = now
	if m.passed.any && m.passed.token.Precedes(t.ID) && now.Sub(m.passed.at) < m.regenerateAfter() {
		return
	}
	m.passed.any, m.passed.token, m.passed.to, m.passed.at = true, t.ID, to, now
}

// grow adds to the age of the token that is held what this member has had it for since it did so last.
func (m *Machine) grow(now policy.Time) {
	growBy(&m.token.Load, now.Sub(m.grownAt))
	m.grownAt = now
}
