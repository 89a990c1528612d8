package wander

import (
	"cmp"
	"slices"
	"sort"

	"github.com/wanderd/wanderd/wire"
)

// Laps finds the next member of a lap. It remembers the order that it was asked for last, sorted, once it has been asked for it
// twice: then the next member is found by halving, and not by looking at all of them. It changes nothing but the time that
// takes. Machines that are stepped by one goroutine may share one, and do best to: members of a simulation have the same view.
type Laps struct {
	asked, sorted lapKey
	places        []placed
}

// lapKey is one order of one view. A view is never changed, so where it lies says which it is.
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
		return l.search(cursor, self)
	}
	for i := range ids {
		if p := place(order, &ids[i]); p > cursor && (!found || p < next.at) && i != self {
			next, found = placed{at: p, index: i}, true
		}
	}
	return next, found
}

func (l *Laps) sort(ids []wire.MemberID, key lapKey) {
	l.places = slices.Grow(l.places[:0], len(ids))
	for i := range ids {
		l.places = append(l.places, placed{at: place(key.order, &ids[i]), index: i})
	}
	slices.SortFunc(l.places, func(a, b placed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index)) })
	l.sorted = key
}

func (l *Laps) search(cursor uint64, self int) (placed, bool) {
	i := sort.Search(len(l.places), func(i int) bool { return l.places[i].at > cursor })
	if i < len(l.places) && l.places[i].index == self {
		i++
	}
	if i == len(l.places) {
		return placed{}, false
	}
	return l.places[i], true
}
