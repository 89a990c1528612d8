// Package lap has the orders in which a token visits members, and finds the next member in an order. Every member
// computes the same orders, so a token carries no list of visited members.
package lap

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Laps finds the next member of a lap. When it is asked for one order twice, it sorts and remembers that order, and
// then finds the next member by binary search instead of looking at all members. This changes only the time that it
// takes. Machines of one goroutine may share a Laps, and should: members of a simulation have the same view.
type Laps struct {
	asked, sorted lapKey
	places        []Place
}

// lapKey is one order of one view. A view never changes, so its address identifies it.
type lapKey struct {
	first *wire.MemberID
	n     int
	order uint64
}

// Place is the place of the member with that index in the view.
type Place struct {
	At    uint64
	Index int
}

// After returns the index in ids of the first member after cursor, and its place; self is left out.
func (l *Laps) After(ids []wire.MemberID, order, cursor uint64, self int) (next Place, found bool) {
	if len(ids) == 0 {
		return Place{}, false
	}
	key := lapKey{first: &ids[0], n: len(ids), order: order}
	again := l.asked == key
	l.asked = key
	if again && l.sorted != key {
		l.sort(ids, key)
	}
	if l.sorted == key {
		return l.search(cursor, self, 0, len(l.places))
	}
	for i := range ids {
		if p := PlaceOf(order, &ids[i]); p > cursor && (!found || p < next.At) && i != self {
			next, found = Place{At: p, Index: i}, true
		}
	}
	return next, found
}

// Arc is the part of an order that one of several tokens visits: the members from one rank up to another. When a member
// comes or goes, only members at the ends change from one arc to the next.
type Arc struct{ Part, Of int }

// Bounds returns the ranks from and to, to not included, among n members.
func (a Arc) Bounds(n int) (from, to int) { return a.Part * n / a.Of, (a.Part + 1) * n / a.Of }

// AfterIn is After for an arc: members outside of it are left out.
func (l *Laps) AfterIn(a Arc, ids []wire.MemberID, order, cursor uint64, self int) (next Place, found bool) {
	l.know(ids, order)
	from, to := a.Bounds(len(l.places))
	return l.search(cursor, self, from, to)
}

// Contains reports whether the member with that index is in the arc.
func (l *Laps) Contains(a Arc, ids []wire.MemberID, order uint64, index int) bool {
	l.know(ids, order)
	rank := l.find(PlaceOf(order, &ids[index]) - 1)
	from, to := a.Bounds(len(l.places))
	return from <= rank && rank < to
}

// LowestIn returns the first members of an arc by identity, without self.
func (l *Laps) LowestIn(a Arc, ids []wire.MemberID, order uint64, self int) (lowest guardian.Trail) {
	l.know(ids, order)
	from, to := a.Bounds(len(l.places))
	for _, p := range l.places[from:to] {
		if p.Index == self {
			continue
		}
		id := ids[p.Index]
		for i := range lowest {
			if lowest[i].IsZero() || id.Compare(lowest[i]) < 0 {
				id, lowest[i] = lowest[i], id
			}
		}
	}
	return lowest
}

// know makes sure that an order is sorted.
func (l *Laps) know(ids []wire.MemberID, order uint64) {
	if key := (lapKey{first: &ids[0], n: len(ids), order: order}); l.sorted != key {
		l.sort(ids, key)
	}
}

// find returns the rank of the first member after cursor.
func (l *Laps) find(cursor uint64) int {
	return sort.Search(len(l.places), func(i int) bool { return l.places[i].At > cursor })
}

func (l *Laps) sort(ids []wire.MemberID, key lapKey) {
	l.places = slices.Grow(l.places[:0], len(ids))
	for i := range ids {
		l.places = append(l.places, Place{At: PlaceOf(key.order, &ids[i]), Index: i})
	}
	slices.SortFunc(l.places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Index, b.Index))
	})
	l.sorted = key
}

// search returns the first place after cursor among those of the ranks from and to, to not included.
func (l *Laps) search(cursor uint64, self, from, to int) (Place, bool) {
	for i := max(l.find(cursor), from); i < to; i++ {
		if l.places[i].Index != self {
			return l.places[i], true
		}
	}
	return Place{}, false
}

// PlaceOf is a member's place in an order: a pseudo-random number, the same at every member. Zero is before all
// members.
func PlaceOf(order uint64, id *wire.MemberID) uint64 {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	return max(Scramble(Scramble(order^high)^low), 1)
}

// Scramble is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of x changes about half of the result's.
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
