package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// The worlds that are drawn have orders now and then; here they always have.
func TestOrdersAreObeyedAndKnownUnderAllFaults(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		s := wandering.Draw(seed)
		s.Operators = sim.Operators{Every: s.Duration / 10, For: s.Duration / 20, HereShare: 0.2, StopAfter: int(seed % 4)}
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d: %v", seed, o.Err)
		}
	}
}

func TestTheDrawnWorldsWithOrders(t *testing.T) {
	drawn, braked := 0, 0
	for seed := uint64(1); seed <= 500; seed++ {
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
	if drawn < 40 || braked < 20 {
		t.Errorf("%d worlds have orders, %d a brake", drawn, braked)
	}
}
