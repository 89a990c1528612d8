package together

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
)

// No seed lets a run start with half its gates, more hosts of a zone run than may, a run go on that has lost a gate, or
// a host wait for ever. The first one has failed: callers whose waits were all shorter than a patience did not make a
// guardian revive the token of a gate that they needed.
func TestNoSeedBreaksARule(t *testing.T) {
	var seen rules
	orderly := 0
	seeds := mutant.Seeds(deep.Or[uint64](60, 300), 8)
	for _, seed := range seeds {
		s := Draw(seed)
		r, err := s.explore()
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, s)
		}
		seen.served, seen.put = seen.served+r.served, seen.put+r.put
		seen.cut, seen.late = seen.cut+r.cut, seen.late+r.late
		if s.calm() && s.WithWait >= s.longestQueue() {
			orderly++
		}
	}
	t.Logf("%d commands of callers ran; %d runs were put off, %d were cut because a gate was lost, %d had lost one "+
		"when they had all; in %d worlds nobody may be put off", seen.served, seen.put, seen.cut, seen.late, orderly)
	if len(seeds) > 40 && min(seen.served, seen.put, seen.cut, seen.late, orderly) == 0 {
		t.Error("the seeds do not show all of that")
	}
}

// BenchmarkWorlds explores one seed after another.
func BenchmarkWorlds(b *testing.B) {
	for seed := uint64(1); b.Loop(); seed++ {
		s := Draw(seed)
		if _, err := s.explore(); err != nil {
			b.Fatal(seed, err)
		}
	}
}
