package pace

// Turns says whose the next grant of a member is, in a gate with an operation of its own and callers. The operation
// comes first when it is due, as callers need not wait for min_interval. But a caller that waits during a run of the
// operation has the member's next grant, even if the operation is due again. So an operation that is always due delays
// a caller by two of its runs at most, and callers without end delay the operation by one of theirs.
type Turns struct {
	// owed says that a caller waited during the last run of the operation.
	owed bool
}

// Owe records that a caller waits during a run of the operation.
func (t *Turns) Owe() { t.owed = true }

// Ended records the end of a run, of a caller's command or of the operation. One that was denied is nobody's turn.
func (t *Turns) Ended(callers, denied bool) { t.owed = t.owed && callers == denied }

// Gone records that nobody waits any more.
func (t *Turns) Gone() { t.owed = false }

// Callers reports whether the next grant is for callers, if any wait; due says that the operation is due.
func (t Turns) Callers(due bool) bool { return t.owed || !due }
