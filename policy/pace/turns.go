package pace

// Turns decides whose the next grant of a member is, in a gate that has both an operation of its own and callers. The
// operation comes first when it is due, because callers need not wait for min_interval. But a caller that waits during
// a run of the operation, or when one is put off, has the member's next grant, even if the operation is due again. So
// an operation that is always due delays a caller by at most two of its turns, and an endless series of callers delays
// the operation by one of their runs.
type Turns struct {
	// owed is true if a caller waited during the last turn of the operation.
	owed bool
}

// Owe records that a caller waits during a run of the operation, or when one is put off.
func (t *Turns) Owe() { t.owed = true }

// Ended records the end of a run, of a caller's command or of the operation. A denied run does not count as a turn.
func (t *Turns) Ended(callers, denied bool) { t.owed = t.owed && callers == denied }

// Gone records that no caller waits any more.
func (t *Turns) Gone() { t.owed = false }

// Callers reports whether the next grant is for callers, if any wait; due is true if the operation is due.
func (t Turns) Callers(due bool) bool { return t.owed || !due }
