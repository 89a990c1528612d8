package wander

import (
	"slices"
	"time"
)

// maxRounds is the number of rounds that a member remembers.
const maxRounds = 6

// rounds are the last durations from when one token left this member to when the next one did, each with the number of
// members of a lap at that time. A new round replaces the oldest. If there is one token, a round begins and ends with
// it.
type rounds struct {
	took    [maxRounds]time.Duration
	members [maxRounds]uint32
	count   uint8
}

func (r *rounds) add(took time.Duration, members int) {
	at := r.count % maxRounds
	r.took[at], r.members[at] = took, uint32(members)
	// When all places are taken, the count cycles from maxRounds to twice that.
	if r.count++; r.count == 2*maxRounds {
		r.count = maxRounds
	}
}

// lap is the duration of a lap of that many members: the second longest of the last rounds, or zero if there were fewer
// than two. So one round in which a hook hung or this member was away does not count, and neither does one that a
// second token cut short. If members have left since, a lap takes less. If members have come, it may not take longer:
// their runs may replace rests of the token.
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
