package measure

// laps counts the laps of the token: "one visit to every live member". A member that comes has to be visited too before
// the lap is over; one that goes does not.
type laps struct {
	members []lapper
	// done counts the laps that are over; here are the members that are up, and missing those not visited in this lap.
	done, here, missing int
}

type lapper struct {
	up bool
	// visited is the number of the last lap in which the token was here, counted from one.
	visited int
}

func newLaps(members int) laps { return laps{members: make([]lapper, members)} }

func (l *laps) arrive(member int) {
	l.members[member] = lapper{up: true}
	l.here++
	l.missing++
}

func (l *laps) end(member int) {
	m := &l.members[member]
	if !m.up {
		return
	}
	m.up = false
	l.here--
	if m.visited <= l.done {
		l.missing--
		l.finish()
	}
}

// visit: the token is at a member.
func (l *laps) visit(member int) {
	m := &l.members[member]
	if !m.up || m.visited > l.done {
		return
	}
	m.visited = l.done + 1
	l.missing--
	l.finish()
}

// finish ends the lap if nobody is missing.
func (l *laps) finish() {
	if l.missing == 0 && l.here > 0 {
		l.done++
		l.missing = l.here
	}
}
