package call

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
)

// A paused holder cannot know that its token has been revived. When it goes on, two run at once: for as long as their
// operations last, or until the first of them hears of the other.
func TestAnOverlapEndsSoonIfLostRunsAreStopped(t *testing.T) {
	longest := map[soft.OnLost]time.Duration{}
	for _, choice := range []soft.OnLost{soft.Finish, soft.Stop} {
		for seed := range uint64(40) {
			s, k := idle(6, 2), &overlaps{}
			s.Seed, s.OnLost, s.Op = seed+1, choice, 20*s.Skip
			s.Hook.Takes, s.Demand.Every, s.Duration = s.Op, 3*s.Op, 100*s.Op
			s.Faults = sim.Faults{PauseEvery: 2 * s.Op, PauseFor: s.Op / 2, SleepShare: 0.5}
			if err := s.Explore(k); err != nil {
				t.Fatalf("seed %d: %v", seed+1, err)
			}
			longest[choice] = max(longest[choice], k.longest)
		}
		t.Logf("%v: two run beside each other for %v at most", choice, longest[choice])
	}
	if longest[soft.Stop] > time.Second || longest[soft.Finish] < 5*time.Second {
		t.Error("runs that have lost their token are not stopped, or there are no such runs")
	}
}
