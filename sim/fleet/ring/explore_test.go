package ring

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// found are seeds that have shown something: 966 that copies of a lost token outlived it, 1331 that the checker of
// costs missed a request, 3929 that no member asked again when a handoff had brought no token, 30326 that a member that
// was back took a copy for its earlier life, 46063 that with Martin's protocol a member that had asked a crashed one
// waited for ever, 23679 that a call came late past another member that called, 75699 that a token came to a member
// that was alone and had made one.
var found = []uint64{966, 1331, 3929, 23679, 30326, 46063, 75699}

// A hunt: each seed draws a ring, its links and its faults. `go test ./sim/fleet/ring -run Seeds -seeds 100000`
// explores more seeds.
func TestSeedsBreakNoRule(t *testing.T) {
	for _, seed := range mutant.Seeds(50, found...) {
		s := Draw(seed)
		if err := s.Explore(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, s)
		}
	}
}
