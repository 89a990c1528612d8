package wander_test

import (
	"testing"

	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// Whatever a member has said and done, nothing of it outlives its key: there is one token again, under which every member runs, and one more when
// that is lost. While it lies, bounded habits cost the others at most two operations at once, for a lap in all. A bound that holds for the
// other habits too should be promised for them.
func TestALiarLeavesNothingBehind(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 30
	}
	bounded, others, exceeded := 0, 0, 0
	for seed := uint64(1); seed <= seeds; seed++ {
		s := wandering.DrawLiar(seed)
		judge := wandering.NewLiarChecker(&s)
		if o := s.ExploreWith(judge); o.Err != nil {
			t.Errorf("seed %d: %v\n%v", seed, o.Err, &s)
		}
		switch {
		case s.Liar.Habits&^wandering.Bounded == 0:
			bounded++
		default:
			others++
			if judge.Exceeded() {
				exceeded++
			}
		}
	}
	t.Logf("%d liars of %d whose habits are not bounded exceed the bound", exceeded, others)
	if bounded == 0 || exceeded == 0 {
		t.Errorf("%d seeds have bounded habits only, and %d of the others exceed the bound", bounded, exceeded)
	}
}

func TestEachHabitIsDrawnAlone(t *testing.T) {
	seen := map[wandering.Habits]bool{}
	for seed := uint64(1); seed <= 4000; seed++ {
		s := wandering.DrawLiar(seed)
		seen[s.Liar.Habits] = true
	}
	for h := wandering.Habits(1); h <= wandering.Offers; h <<= 1 {
		if !seen[h] && h != wandering.Invents {
			t.Errorf("no seed draws %v alone", h)
		}
	}
}
