package call

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// A member that runs is lost, while others wait. After kill -9 of its agent its guard ends the run, and tells the homes
// that nobody holds the token: so they ask the others, but not that agent, and do not wait for a silence. After a power
// cut they suspect it after a patience. That member may be the first home itself: then the next home knows who waits.
func TestTheNextRunComesSoonAfterAHolderIsKilled(t *testing.T) {
	for _, c := range []struct {
		what string
		kill func(*sim.Cluster, int)
		most time.Duration
	}{
		{"its agent", (*sim.Cluster).Crash, 300 * time.Millisecond},
		{"its host", (*sim.Cluster).PowerCut, 1800 * time.Millisecond},
	} {
		for _, members := range []int{10, 64, 65, 150} {
			var gaps []time.Duration
			for seed := range uint64(30) {
				gaps = append(gaps, afterKill(t, members, seed+1, c.kill))
			}
			slices.Sort(gaps)
			t.Logf("%s, of %d: median %v, longest %v", c.what, members, gaps[len(gaps)/2], gaps[len(gaps)-1])
			if longest := gaps[len(gaps)-1]; longest > c.most {
				t.Errorf("that is more than %v", c.most)
			}
		}
	}
}

// afterKill returns the time from the end of a run whose member was killed to the next run, in a fleet in which many
// wait.
func afterKill(t *testing.T, members int, seed uint64, kill func(*sim.Cluster, int)) time.Duration {
	t.Helper()
	s := idle(members, 2)
	s.Seed = seed
	killed, ended, next := -1, policy.Never, policy.Never
	c := s.NewCluster(sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.Member == killed && o.EndsRun() {
			ended = min(ended, o.At)
		}
		switch {
		case !o.Does(policy.Run):
		case killed >= 0:
			next = min(next, o.At)
		case o.At >= policy.Time(5*time.Minute):
			killed = o.Member
			c.After(s.Op/2, func() { kill(c, killed) })
		}
		return nil
	}))
	s.start(c)
	if err := c.Run(policy.Time(6 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return next.Sub(ended)
}
