package wander_test

import (
	"testing"

	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// Whatever a member has said and done, nothing of it outlives its key: there is one token again, under which every member runs, and one more when
// that is lost.
func TestALiarLeavesNothingBehind(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		s := wandering.DrawLiar(seed)
		if s.Liar.Habits&wandering.Offers == 0 {
			continue // What the others cost before that is judged, too.
		}
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d: %v\n%v", seed, o.Err, &s)
		}
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
