package guardian

import "github.com/wanderd/wanderd/wire"

// MaxBackups is the largest number of guardians of a token.
const MaxBackups = 4

// Trail lists a token's guardians by rank: the members that keep a copy of it against its loss, usually its previous
// holders. The first one revives it first. Empty places are last and zero.
type Trail [MaxBackups]wire.MemberID

// Len returns how many guardians there are.
func (t *Trail) Len() int {
	for i := range t {
		if t[i].IsZero() {
			return i
		}
	}
	return len(t)
}

// Rank returns id's rank among the guardians, from 0.
func (t *Trail) Rank(id wire.MemberID) (rank int, ok bool) {
	for i := range t {
		if t[i] == id {
			return i, !id.IsZero()
		}
	}
	return 0, false
}

// Has reports whether id is a guardian.
func (t *Trail) Has(id wire.MemberID) bool {
	_, ok := t.Rank(id)
	return ok
}

// Add appends id as the last guardian, unless it is one already or there is no place.
func (t *Trail) Add(id wire.MemberID) {
	if n := t.Len(); n < len(t) && !t.Has(id) {
		t[n] = id
	}
}

// Drop removes the guardian of a rank; the guardians after it move up.
func (t *Trail) Drop(rank int) {
	copy(t[rank:], t[rank+1:])
	t[len(t)-1] = wire.MemberID{}
}

// Behind returns the trail of a token that is passed from one member to another: from is the first guardian, the others
// move back, to is removed, and there are at most n.
func (t *Trail) Behind(from, to wire.MemberID, n int) (behind Trail) {
	behind[0] = from
	for i := 0; i < t.Len() && behind.Len() < n; i++ {
		if t[i] != to {
			behind.Add(t[i])
		}
	}
	if n == 0 {
		return Trail{}
	}
	return behind
}

// TrailSize is the length of a trail in bytes: a guarded token's load begins with it, its guardians by rank, 16 bytes
// each. The rest of the load is the protocol's.
const TrailSize = MaxBackups * len(wire.MemberID{})

// TrailOf returns the trail of a token with that load.
func TrailOf(load *wire.Load) (t Trail) {
	for i := range t {
		t[i] = wire.MemberID(load[i*len(t[i]) : (i+1)*len(t[i])])
	}
	return t
}

// rankIn is Rank in the trail of a token with that load. It is called for every heartbeat, so it reads the trail in
// place.
func rankIn(load *wire.Load, id *wire.MemberID) (rank int, ok bool) {
	for i := range MaxBackups {
		if wire.MemberID(load[i*len(id):(i+1)*len(id)]) == *id {
			return i, !id.IsZero()
		}
	}
	return 0, false
}

// SetTrail writes the trail of a token into its load.
func SetTrail(load *wire.Load, t *Trail) {
	for i := range t {
		copy(load[i*len(t[i]):], t[i][:])
	}
}

// WellFormedTrail reports whether a load begins with a trail: empty places are last, and no member is listed twice.
func WellFormedTrail(load *wire.Load) bool {
	t, added := TrailOf(load), Trail{}
	for _, id := range t {
		added.Add(id)
	}
	return added == t
}
