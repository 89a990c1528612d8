package soft

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Avoided remembers the last members that did not answer.
type Avoided [4]struct {
	id    wire.MemberID
	until policy.Time
}

// Add avoids id until the given time, in place of the member that would be forgotten first.
func (a *Avoided) Add(id wire.MemberID, until policy.Time) {
	a.Forgive(id)
	place := 0
	for i := range a {
		if a[i].until < a[place].until {
			place = i
		}
	}
	a[place].id, a[place].until = id, until
}

// Forgive stops avoiding id: it has answered.
func (a *Avoided) Forgive(id wire.MemberID) {
	for i := range a {
		if a[i].id == id {
			a[i].id, a[i].until = wire.MemberID{}, 0
		}
	}
}

// Has reports whether id is avoided.
func (a *Avoided) Has(id wire.MemberID, now policy.Time) bool {
	for i := range a {
		if a[i].id == id {
			return now < a[i].until
		}
	}
	return false
}

// AppendPlaces appends the places of the avoided members in a view.
func (a *Avoided) AppendPlaces(places []int, view *Peers, now policy.Time) []int {
	for i := range a {
		if now >= a[i].until {
			continue
		}
		if place, ok := view.Place(a[i].id); ok {
			places = append(places, place)
		}
	}
	return places
}
