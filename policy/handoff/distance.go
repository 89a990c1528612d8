package handoff

import (
	"math"
	"time"
)

// Most fleets have a few members that are further away than the others: a host at another site, a mobile one. Their
// answers are rare among those of near members. So the patience that is right for all partners is too short when they
// are offered a token again, and they would never get one. Therefore each member remembers the furthest partners one by
// one.
const MaxDistances = 8

// distances has the longest recent round trips of the partners that are furthest away, by the hints of their
// identities. When all places are taken, a partner that is further away takes the place of the nearest one. So a
// partner that is not listed is, as far as this member knows, no further away than the nearest listed one, and is given
// that much patience. That is how all of many distant members are reached.
type distances struct {
	hints [MaxDistances]uint32
	trips [MaxDistances]micros
	slow  [MaxDistances]slowness
	// far has a bit for each partner that is far away: several of its answers were slow. One late answer is no sign.
	far uint8
}

// micros is a round trip in microseconds, rounded up; zero in an empty place.
type micros uint32

func inMicros(d time.Duration) micros {
	return micros(min((d+time.Microsecond-1)/time.Microsecond, math.MaxUint32))
}

func (m micros) duration() time.Duration { return time.Duration(m) * time.Microsecond }

// find returns the place of a partner, or false.
func (d *distances) find(hint uint32) (place int, ok bool) {
	for i, h := range d.hints {
		if h == hint && d.trips[i] > 0 {
			return i, true
		}
	}
	return 0, false
}

// nearest returns the place of the nearest partner, or an empty one.
func (d *distances) nearest() (place int) {
	for i, trip := range d.trips {
		if trip < d.trips[place] {
			place = i
		}
	}
	return place
}

// to returns the round trip to a partner; zero if it is unknown.
func (d *distances) to(hint uint32) time.Duration {
	place, ok := d.find(hint)
	if !ok {
		place = d.nearest()
	}
	return d.trips[place].duration()
}

// longest returns the longest round trip to a partner that is far away.
func (d *distances) longest() (longest time.Duration) {
	for i, trip := range d.trips {
		if d.isFar(i) {
			longest = max(longest, trip.duration())
		}
	}
	return longest
}

// shortest returns the shortest round trip to a listed partner, zero if there is none.
func (d *distances) shortest() (shortest time.Duration) {
	for _, trip := range d.trips {
		if trip > 0 && (shortest == 0 || trip.duration() < shortest) {
			shortest = trip.duration()
		}
	}
	return shortest
}

func (d *distances) isFar(place int) bool { return d.far&(1<<place) != 0 }

// answered records an answer, and reports whether too many of this partner's are slow. tooSlow is the longest round
// trip that is not.
func (d *distances) answered(hint uint32, after time.Duration, isSlow bool, tooSlow time.Duration) (tooMany bool) {
	place, ok := d.find(hint)
	if !ok {
		if place = d.nearest(); inMicros(after) <= d.trips[place] {
			return false
		}
		d.clear(place)
		d.hints[place] = hint
	}
	trip := recent(d.trips[place].duration(), after)
	d.trips[place] = inMicros(trip)
	tooMany = d.slow[place].answered(isSlow)
	switch {
	case trip <= tooSlow:
		d.far &^= 1 << place
	case tooMany || d.slow[place] >= 2*slowStep:
		d.far |= 1 << place
	}
	return tooMany
}

func (d *distances) clear(place int) {
	d.hints[place], d.trips[place], d.slow[place] = 0, 0, 0
	d.far &^= 1 << place
}

// keep forgets each partner that is not present and has a longer round trip than tooSlow: no member waits for it any
// more.
func (d *distances) keep(present func(hint uint32) bool, tooSlow time.Duration) {
	for i, trip := range d.trips {
		if trip.duration() > tooSlow && !present(d.hints[i]) {
			d.clear(i)
		}
	}
}
