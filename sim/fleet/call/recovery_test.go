package call

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
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

// The holder and all homes are lost at once, and somebody waits. The next run comes as soon as the last view shows the
// loss: whoever waits unanswered calls the new first home within a skip (R14), and homes that were called too early
// tell that one (R11).
func TestTheNextRunComesOnceAllHaveNoticedALoss(t *testing.T) {
	const members, seeds, most = 1000, 100, 3 * time.Second
	longest := time.Duration(0)
	for seed := range uint64(seeds) {
		s := idle(members, 1)
		s.Seed, s.Membership = seed+1, sim.MeasuredMembership(members)
		var noticed, ran policy.Time
		watch := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
			switch {
			case o.Ends():
				ran = policy.Never
			case ran < policy.Never:
			case o.Does(policy.Run):
				ran = o.At
			case o.On(policy.PeersChanged):
				noticed = o.At
			}
			return nil
		})
		if _, err := s.CallAfter(t.Context(), HolderAndHomes, watch); err != nil {
			t.Fatal(err)
		}
		if took := ran.Sub(noticed); took > most {
			t.Errorf("seed %d: it comes %v later", s.Seed, took)
		}
		longest = max(longest, ran.Sub(noticed))
	}
	t.Logf("it comes %v later at most", longest)
}
