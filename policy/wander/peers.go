package wander

import (
	"cmp"
	"slices"

	"github.com/wanderd/wanderd/wire"
)

// peers is a view of the gate's live members, this one among them.
type peers struct {
	ids  []wire.MemberID
	rank int
}

func newPeers(ids []wire.MemberID, self wire.MemberID) peers {
	rank, _ := slices.BinarySearchFunc(ids, self, wire.MemberID.Compare)
	return peers{ids: ids, rank: rank}
}

// byHint returns the member whose identity begins with hint.
func (p *peers) byHint(hint uint32) (wire.MemberID, bool) {
	compare := func(id wire.MemberID, h uint32) int { return cmp.Compare(id.Hint(), h) }
	i, ok := slices.BinarySearchFunc(p.ids, hint, compare)
	if !ok {
		return wire.MemberID{}, false
	}
	return p.ids[i], true
}

func (p *peers) hasHint(hint uint32) bool {
	_, ok := p.byHint(hint)
	return ok
}

// place returns the place of id among the members.
func (p *peers) place(id wire.MemberID) (place int, ok bool) {
	return slices.BinarySearchFunc(p.ids, id, wire.MemberID.Compare)
}

func (p *peers) has(id wire.MemberID) bool {
	_, ok := p.place(id)
	return ok
}

func (p *peers) count() int  { return max(len(p.ids), 1) }
func (p *peers) alone() bool { return len(p.ids) <= 1 }
