package wire

import "encoding/binary"

const (
	// MaxMissed is how many members a route remembers that were not reached.
	MaxMissed = 4
	// MaxTries is how many members may fail to reach one before it has to wait for the next lap.
	MaxTries = 4
)

// Route is how far a token has come on its way round, for walks that go round; a random walk leaves it alone. It only says
// who comes next: nothing in it has to be right for the token to be safe.
type Route struct {
	// Cursor is the place, in the order of this lap, up to which members have had their turn.
	Cursor uint64
	// Lap counts the laps that were begun: one visit to every live member each.
	Lap uint32
	// Missed are the members that were not reached since, by the beginnings of their identities, the one that waits
	// longest first. Tries is how many members have tried each, 1 to MaxTries; empty places come last and are zero.
	Missed [MaxMissed]uint32
	Tries  [MaxMissed]uint8
}

// Take takes place i off the list.
func (r *Route) Take(i int) {
	copy(r.Missed[i:], r.Missed[i+1:])
	copy(r.Tries[i:], r.Tries[i+1:])
	r.Missed[MaxMissed-1], r.Tries[MaxMissed-1] = 0, 0
}

// Miss puts a member at the end of the list, over the one that waits longest if the list is full.
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

// Hint returns the beginning of an identity: enough to find a member of a view by, and proof of nothing.
func (id MemberID) Hint() uint32 { return binary.BigEndian.Uint32(id[:]) }

// routeSize is the length of a route: lap, cursor, hints, tries.
const routeSize = 4 + 8 + MaxMissed*4 + MaxMissed

func (r *Route) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, r.Lap)
	dst = binary.BigEndian.AppendUint64(dst, r.Cursor)
	for _, hint := range r.Missed {
		dst = binary.BigEndian.AppendUint32(dst, hint)
	}
	return append(dst, r.Tries[:]...)
}

func parseRoute(b []byte) (r Route) {
	r.Lap = binary.BigEndian.Uint32(b)
	r.Cursor = binary.BigEndian.Uint64(b[4:])
	for i := range r.Missed {
		r.Missed[i] = binary.BigEndian.Uint32(b[12+4*i:])
	}
	copy(r.Tries[:], b[12+4*MaxMissed:])
	return r
}

// wellFormed: empty places are last, and empty.
func (r *Route) wellFormed() bool {
	for i, tries := range r.Tries {
		if tries > MaxTries || tries == 0 && r.Missed[i] != 0 || i > 0 && tries > 0 && r.Tries[i-1] == 0 {
			return false
		}
	}
	return true
}
