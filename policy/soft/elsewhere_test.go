package soft_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/soft"
)

// What the other slots do is the same whether all are added and one is left out, or only the others are added.
func TestOneSlotIsLeftOutOfTheSum(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		n := 1 + d.IntN(5)
		slots := make([]soft.Schedule, n)
		runs, waits := make([]bool, n), make([]bool, n)
		var all soft.Together
		for i := range slots {
			if d.IntN(3) > 0 {
				ran(&slots[i], hook(), at(time.Duration(d.IntN(4))*time.Second))
			}
			runs[i], waits[i] = d.IntN(4) == 0, d.IntN(4) == 0
			all.Add(i, runs[i], waits[i], &slots[i], hook())
		}
		for i := range slots {
			var others soft.Together
			want := soft.Elsewhere{}
			for j := range slots {
				if j != i {
					others.Add(j, runs[j], waits[j], &slots[j], hook())
					want.Running, want.Waiting = want.Running || runs[j], want.Waiting || waits[j]
				}
			}
			got, rest := all.Without(i), others.Without(i)
			if got != rest || got.Running != want.Running || got.Waiting != want.Waiting {
				t.Fatalf("slot %d of %d: %+v, want %+v", i, n, got, rest)
			}
		}
	}
}
