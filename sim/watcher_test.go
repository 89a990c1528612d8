package sim

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
)

// An occurrence in the network names no member: it must not be taken for one at member 0.
func TestNetworkOccurrencesBelongToNoMember(t *testing.T) {
	var told []OccurrenceKind
	w := EachMember(func(seen *int, _ *Cluster, o *Occurrence) error {
		*seen++
		told = append(told, o.Kind)
		return nil
	})
	for kind := Stepped; kind <= Healed; kind++ {
		if err := w.Watch(nil, &Occurrence{Kind: kind, Event: &policy.Event{}}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []OccurrenceKind{
		Stepped, Ignored, Came, Crashed, RunGone, Departed, Paused, Slept,
	}; !slices.Equal(told, want) {
		t.Errorf("a member is told of %v, want %v", told, want)
	}
}

// A state of one life is zero again in the next life, and each member has its own state.
func TestAStateIsOfOneMemberAndOneLife(t *testing.T) {
	var seen []int
	w := EachLife(func(steps *int, _ *Cluster, _ *Occurrence) error {
		*steps++
		seen = append(seen, *steps)
		return nil
	})
	for _, o := range []Occurrence{
		{Kind: Came}, {Kind: Came, Member: 2}, {Kind: Paused}, {Kind: Crashed}, {Kind: Came}, {Kind: Paused, Member: 2},
	} {
		if err := w.Watch(nil, &o); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{1, 1, 2, 3, 1, 2}; !slices.Equal(seen, want) {
		t.Errorf("states %v, want %v", seen, want)
	}
}
