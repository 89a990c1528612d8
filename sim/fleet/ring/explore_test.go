package ring

import (
	"flag"
	"testing"
)

var (
	firstSeed = flag.Uint64("first", 1, "the first seed that is explored")
	seeds     = flag.Uint64("seeds", 50, "how many seeds are explored")
)

// A hunt: each seed draws a ring, its links and what goes wrong in it. `go test ./sim/fleet/ring -run Seeds -seeds 100000` looks at more.
func TestSeedsBreakNoRule(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		s := Draw(seed)
		if _, err := s.Explore(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, s)
		}
	}
}
