package soft

import (
	"cmp"
	"slices"

	"github.com/wanderd/wanderd/wire"
)

// Peers is a view of the gate's live members, this one among them.
type Peers struct {
	// IDs are the members, sorted. Rank is the place of this member among them.
	IDs  []wire.MemberID
	Rank int
}

// NewPeers returns a view of members that are sorted by identity.
func NewPeers(ids []wire.MemberID, self wire.MemberID) Peers {
	rank, _ := slices.BinarySearchFunc(ids, self, wire.MemberID.Compare)
	return Peers{IDs: ids, Rank: rank}
}

// ByHint returns the member whose identity begins with hint.
func (p *Peers) ByHint(hint uint32) (wire.MemberID, bool) {
	compare := func(id wire.MemberID, h uint32) int { return cmp.Compare(id.Hint(), h) }
	i, ok := slices.BinarySearchFunc(p.IDs, hint, compare)
	if !ok {
		return wire.MemberID{}, false
	}
	return p.IDs[i], true
}

// HasHint reports whether there is a member whose identity begins with hint.
func (p *Peers) HasHint(hint uint32) bool {
	_, ok := p.ByHint(hint)
	return ok
}

// Place returns the place of id among the members.
func (p *Peers) Place(id wire.MemberID) (place int, ok bool) {
	return slices.BinarySearchFunc(p.IDs, id, wire.MemberID.Compare)
}

// Has reports whether id is a live member.
func (p *Peers) Has(id wire.MemberID) bool {
	_, ok := p.Place(id)
	return ok
}

// Count is the number of live members: this one at least.
func (p *Peers) Count() int { return max(len(p.IDs), 1) }

// Alone reports whether this member sees no other one.
func (p *Peers) Alone() bool { return len(p.IDs) <= 1 }
