package wander

import (
	"cmp"
	"slices"
	"sort"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Laps finds the next member of a lap. When it is asked for one order twice, it sorts and remembers that order, and then finds the next
// member by binary search instead of looking at all members. This changes only the time that it takes. Machines of one goroutine
// may share a Laps, and should: members of a simulation have the same view.
type Laps struct {
	asked, sorted lapKey
	places        []placed
}

// lapKey is one order of one view. A view never changes, so its address identifies it.
type lapKey struct {
	first *wire.MemberID
	n     int
	order uint64
}

// placed is the place of the member with that index in the view.
type placed struct {
	at    uint64
	index int
}

// after returns the index in ids of the first member after cursor, and its place; self is left out.
func (l *Laps) after(ids []wire.MemberID, order, cursor uint64, self int) (next placed, found bool) {
	if len(ids) == 0 {
		return placed{}, false
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
		if p := place(order, &ids[i]); p > cursor && (!found || p < next.at) && i != self {
			next, found = placed{at: p, index: i}, true
		}
	}
	return next, found
}

// arc is the part of an order that one of several tokens visits: the members from one rank up to another. When a member comes or goes,
// only members at the ends change from one arc to the next.
type arc struct{ part, of int }

// bounds returns the ranks from and to, to not included, among n members.
func (a arc) bounds(n int) (from, to int) { return a.part * n / a.of, (a.part + 1) * n / a.of }

// afterIn is after for an arc: members outside of it are left out.
func (l *Laps) afterIn(a arc, ids []wire.MemberID, order, cursor uint64, self int) (next placed, found bool) {
	l.know(ids, order)
	from, to := a.bounds(len(l.places))
	return l.search(cursor, self, from, to)
}

// contains reports whether the member with that index is in the arc.
func (l *Laps) contains(a arc, ids []wire.MemberID, order uint64, index int) bool {
	l.know(ids, order)
	rank := l.find(place(order, &ids[index]) - 1)
	from, to := a.bounds(len(l.places))
	return from <= rank && rank < to
}

// lowestIn returns the first members of an arc by identity, but for self.
func (l *Laps) lowestIn(a arc, ids []wire.MemberID, order uint64, self int) (lowest guardian.Trail) {
	l.know(ids, order)
	from, to := a.bounds(len(l.places))
	for _, p := range l.places[from:to] {
		if p.index == self {
			continue
		}
		id := ids[p.index]
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
	return sort.Search(len(l.places), func(i int) bool { return l.places[i].at > cursor })
}

func (l *Laps) sort(ids []wire.MemberID, key lapKey) {
	l.places = slices.Grow(l.places[:0], len(ids))
	for i := range ids {
		l.places = append(l.places, placed{at: place(key.order, &ids[i]), index: i})
	}
	slices.SortFunc(l.places, func(a, b placed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index)) })
	l.sorted = key
}

// search returns the first place after cursor among those of the ranks from and to, to not included.
func (l *Laps) search(cursor uint64, self, from, to int) (placed, bool) {
	for i := max(l.find(cursor), from); i < to; i++ {
		if l.places[i].index != self {
			return l.places[i], true
		}
	}
	return placed{}, false
}
