package call

import (
	"slices"
	"testing"
	"time"
)

func TestTheNextRunComesSoonAfterAHostIsLost(t *testing.T) {
	const seeds = 20
	for _, c := range []struct {
		what    string
		members int
		most    time.Duration
		dead    Victims
	}{
		{"holder", 10, 1800 * time.Millisecond, Holder},
		{"holder", 150, 1800 * time.Millisecond, Holder},
		{"first home", 10, 500 * time.Millisecond, FirstHome},
		{"first home", 150, 500 * time.Millisecond, FirstHome},
		{"holder and homes", 10, 8 * time.Second, HolderAndHomes},
		{"holder and homes", 50, 8 * time.Second, HolderAndHomes},
		{"holder and homes", 150, 8 * time.Second, HolderAndHomes},
		{"holder and homes", 1000, 12 * time.Second, HolderAndHomes},
	} {
		var waits []time.Duration
		for seed := range uint64(seeds) {
			s := idle(c.members, 1)
			s.Seed = seed + 1
			took, err := s.CallAfter(t.Context(), c.dead)
			if err != nil {
				t.Fatal(err)
			}
			waits = append(waits, took)
		}
		slices.Sort(waits)
		t.Logf("%s of %d: median %v, longest %v", c.what, c.members, waits[seeds/2], waits[seeds-1])
		if waits[seeds-1] > c.most {
			t.Errorf("that is more than %v", c.most)
		}
	}
}
