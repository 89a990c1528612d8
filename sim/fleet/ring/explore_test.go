package ring

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
)

// found are seeds by which something was found: 966 that copies of a lost token outlived it, 1331 that the checker of
// costs missed a request, 3929 that nobody asked again where a handoff had brought no token, 30326 that a member that
// was back took a copy for its earlier life, 46063 that a member which had asked a crashed one waited for ever with
// Martin's, 23679 that a call came late past a member that called, too, 75699 that a token came to a member that was
// alone and had made one.
var found = []uint64{966, 1331, 3929, 23679, 30326, 46063, 75699}

// A hunt: each seed draws a ring, its links and what goes wrong in it. `go test ./sim/fleet/ring -run Seeds -seeds
// 100000` looks at more.
func TestSeedsBreakNoRule(t *testing.T) {
	for _, seed := range mutant.Seeds(50, found...) {
		s := Draw(seed)
		if err := s.Explore(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, s)
		}
	}
}
