package wander_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// "Before a member makes a token, all others have answered, or have been asked mostAsks times": also where some of a
// batch leave after it has been asked often, and others would take their places.
func TestThoseBehindABatchAreAskedAsOften(t *testing.T) {
	const members, mostAsks = 120, 6
	s := guarded(t)
	var all, fewer []int
	for i := range members {
		all = append(all, 1+i)
		if i < 9 || i >= 19 {
			fewer = append(fewer, 1+i)
		}
	}
	s.fleet(all...)
	s.advance(s.regenerateIn())
	asked, left := map[wire.MemberID]int{}, false
	for range 100 {
		for _, m := range s.sent {
			if m.Kind == wander.KindInquiry {
				asked[m.To]++
			}
		}
		if s.sent = nil; slices.Contains(s.notes, wander.NoteRegenerated) {
			break
		}
		if asked[id(4)] == mostAsks-1 && !left {
			left = true
			s.fleet(fewer...)
		}
		s.advance(timeout / 6)
	}
	if !left || !slices.Contains(s.notes, wander.NoteRegenerated) {
		t.Fatalf("it makes no token: %v", names(s.notes))
	}
	for _, i := range fewer {
		if n := asked[id(i)]; id(i) != self && n < mostAsks {
			t.Errorf("%d is asked %d times", i, n)
		}
	}
}

// In a large fleet those that give way do not all ask the same member again in one moment: each draws when, within the
// time that all batches take.
func TestWhoGivesWayInALargeFleetDrawsWhenItAsksAgain(t *testing.T) {
	s := guarded(t)
	var all []int
	for i := range 200 {
		all = append(all, 1+i)
	}
	s.fleet(all...)
	for len(s.asked()) == 0 {
		s.advance(timeout)
	}
	s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 5})
	s.notes = nil
	s.advance(timeout)
	s.wantNotes()
	s.advance(4 * timeout)
	if !slices.Contains(s.notes, wander.NoteInquired) {
		t.Error("it does not ask again")
	}
}
