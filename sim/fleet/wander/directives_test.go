package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// The worlds that seeds draw have directives now and then; here they always have.
func TestDirectivesAreObeyedAndKnownUnderAllFaults(t *testing.T) {
	for seed := uint64(1); seed <= deep.Of[uint64](6, 20, 60); seed++ {
		s := wandering.Draw(seed)
		s.Operators = sim.Operators{
			Every: s.Duration / 10, For: s.Duration / 20, HereShare: 0.2, StopAfter: int(seed % 4),
		}
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d: %v", seed, o.Err)
		}
	}
}

func TestTheDrawnWorldsWithDirectives(t *testing.T) {
	drawn, braked, seeds := uint64(0), uint64(0), deep.Of[uint64](50, 200, 500)
	for seed := uint64(1); seed <= seeds; seed++ {
		s := wandering.Draw(seed)
		if s.Operators == (sim.Operators{}) {
			continue
		}
		if drawn++; s.Operators.StopAfter > 0 {
			braked++
		}
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d: %v", seed, o.Err)
		}
	}
	if drawn < seeds*2/25 || braked < seeds/25 {
		t.Errorf("%d worlds have directives, %d a brake", drawn, braked)
	}
}
