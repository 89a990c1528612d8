package call

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
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
	if longest[soft.Stop] > 2*time.Second || longest[soft.Finish] < 5*time.Second {
		t.Error("runs that have lost their token are not stopped, or there are no such runs")
	}
}

// After a split there may be two tokens. The holder of the younger one may be silent in a run when they meet: the home
// that turns to the older one tells it so.
func TestAnOverlapAfterASplitEndsWhenTheTokensMeet(t *testing.T) {
	const from, until, seeds = 2 * time.Minute, 4 * time.Minute, 60
	longest, beside, runs := map[soft.OnLost]time.Duration{}, 0, 0
	for _, choice := range []soft.OnLost{soft.Finish, soft.Stop} {
		for seed := range uint64(seeds) {
			s := idle(10, 0.7)
			s.Seed, s.OnLost, s.MaxInterval, s.Membership.RejoinAfter = seed+1, choice, 30*time.Second, 5*time.Second
			s.Op, s.Hook.Takes = 20*time.Second, 20*time.Second
			s.Demand.Every, s.Duration = 200*time.Second, 10*time.Minute
			s.Faults.Partition = sim.Partition{At: from, For: until - from, Share: 0.4}
			merged := policy.Time(until + s.Membership.RejoinAfter)
			k := &overlaps{from: merged}
			after := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
				if o.At >= merged && o.Does(policy.Run) && choice == soft.Finish {
					if runs++; len(k.began) > 1 {
						beside++
					}
				}
				return nil
			})
			if err := s.Explore(k, after); err != nil {
				t.Fatalf("seed %d: %v", seed+1, err)
			}
			longest[choice] = max(longest[choice], k.longest)
		}
		t.Logf("%v: two run beside each other for %v at most", choice, longest[choice])
	}
	t.Logf("%d of %d runs that began when the members saw one another began beside another run", beside, runs)
}
