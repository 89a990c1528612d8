package wire

// MaxBackups is the largest number of guardians of a token.
const MaxBackups = 4

// Trail lists a token's guardians by rank: the members that keep a copy of it against its loss, usually its previous holders. The
// first one revives it first. Empty places are last and zero.
type Trail [MaxBackups]MemberID

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
func (t *Trail) Rank(id MemberID) (rank int, ok bool) {
	for i := range t {
		if t[i] == id {
			return i, !id.IsZero()
		}
	}
	return 0, false
}

// Has reports whether id is a guardian.
func (t *Trail) Has(id MemberID) bool {
	_, ok := t.Rank(id)
	return ok
}

// Add appends id as the last guardian, unless it is one already or there is no place.
func (t *Trail) Add(id MemberID) {
	if n := t.Len(); n < len(t) && !t.Has(id) {
		t[n] = id
	}
}

// Drop removes the guardian of that rank; the ones after it move up.
func (t *Trail) Drop(rank int) {
	copy(t[rank:], t[rank+1:])
	t[len(t)-1] = MemberID{}
}

// Behind returns the trail of a token that is passed from one member to another: from is the first guardian, the others move back, to
// is removed, and there are at most n.
func (t *Trail) Behind(from, to MemberID, n int) (behind Trail) {
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

// trailSize is the length of a trail.
const trailSize = MaxBackups * len(MemberID{})

func (t *Trail) append(dst []byte) []byte {
	for i := range t {
		dst = append(dst, t[i][:]...)
	}
	return dst
}

func parseTrail(b []byte) (t Trail) {
	for i := range t {
		t[i] = MemberID(b[i*len(t[i]) : (i+1)*len(t[i])])
	}
	return t
}

// wellFormed reports whether empty places are last and no member is listed twice.
func (t *Trail) wellFormed() bool {
	for i := range t {
		if t[i].IsZero() {
			continue
		}
		if i > 0 && t[i-1].IsZero() {
			return false
		}
		for j := range i {
			if t[j] == t[i] {
				return false
			}
		}
	}
	return true
}
