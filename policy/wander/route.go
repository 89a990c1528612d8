package wander

const (
	// MaxMissed is how many missed members a route can list.
	MaxMissed = 4
	// MaxTries is how many holders may fail to reach a member before it has to wait for the next lap.
	MaxTries = 4
)

// Route is a token's position in its lap, for the walks sweep and shuffle; a random walk does not use it. It only
// chooses the next member: safety does not depend on it.
type Route struct {
	// Cursor is the position, in the order of this lap, up to which members have had their turn.
	Cursor uint64
	// Lap counts the begun laps. A lap is one visit to every live member.
	Lap uint32
	// Missed lists the members that a holder could not reach, by the beginnings of their identities, longest wait
	// first. Tries is how many holders have tried each, 1 to MaxTries. Empty places are last and zero.
	Missed [MaxMissed]uint32
	Tries  [MaxMissed]uint8
}

// Take removes place i from the list.
func (r *Route) Take(i int) {
	copy(r.Missed[i:], r.Missed[i+1:])
	copy(r.Tries[i:], r.Tries[i+1:])
	r.Missed[MaxMissed-1], r.Tries[MaxMissed-1] = 0, 0
}

// Miss appends a member to the list. If the list is full, it removes the member that waits longest.
func (r *Route) Miss(hint uint32, tries uint8) {
	at := 0
	for at < MaxMissed && r.Tries[at] > 0 {
		at++
	}
	if at == MaxMissed {
		r.Take(0)
		at--
	}
	r.Missed[at], r.Tries[at] = hint, tries
}

// wellFormed reports whether empty places are last and zero.
func (r *Route) wellFormed() bool {
	for i, tries := range r.Tries {
		if tries > MaxTries || tries == 0 && r.Missed[i] != 0 || i > 0 && tries > 0 && r.Tries[i-1] == 0 {
			return false
		}
	}
	return true
}
