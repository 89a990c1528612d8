package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// A hunt: the faults end for a drawn core only, while the others stay crashed, deaf, mute, away, stuck or parted. Each
// member of the core has its turn all the same.
func TestNoSeedBreaksARuleInACore(t *testing.T) {
	for _, seed := range mutant.Seeds(deep.Of[uint64](10, 20, 60), 1079) {
		s := wandering.DrawCore(seed)
		if o := s.Explore(); o.Err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, o.Err, mutant.Reduced(t, s.Smaller))
		}
	}
}
