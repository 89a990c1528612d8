package call

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// kill -9 of the agent of a member that runs, while others wait: its guard ends the run, and tells the homes that
// nobody holds the token. So they ask the others, but not that agent, and do not wait for a silence. (If that member
// was the first home itself, the waiters have to call another one first.)
func TestTheNextRunComesAtOnceAfterAnAgentIsKilled(t *testing.T) {
	const most = 300 * time.Millisecond
	for _, members := range []int{10, 64, 65, 150} {
		var gaps []time.Duration
		for seed := range uint64(10) {
			gaps = append(gaps, afterAgent(t, members, seed+1))
		}
		slices.Sort(gaps)
		t.Logf("%d members: median %v, longest %v", members, gaps[len(gaps)/2], gaps[len(gaps)-1])
		if longest := gaps[len(gaps)-1]; longest > most {
			t.Errorf("that is more than %v", most)
		}
	}
}

// afterAgent returns the time from the end of a run whose agent was killed to the next run, in a fleet in which many
// wait.
func afterAgent(t *testing.T, members int, seed uint64) time.Duration {
	t.Helper()
	s := idle(members, 2)
	s.Seed = seed
	homes, killed, ended, next := map[int]bool{}, -1, policy.Never, policy.Never
	c := s.NewCluster(sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.Member == killed && o.EndsRun() {
			ended = min(ended, o.At)
		}
		switch {
		case !o.Does(policy.Run):
		case killed >= 0:
			next = min(next, o.At)
		case o.At < policy.Time(5*time.Minute) || homes[o.Member]:
			for _, f := range c.Machine(o.Member).Facts(o.At, nil) {
				if f.Key == policy.KeyGuardian {
					homes[sim.IndexOf(f.Member)] = true
				}
			}
		default:
			killed = o.Member
			c.After(s.Op/2, func() { c.Crash(killed) })
		}
		return nil
	}))
	s.start(c)
	if err := c.Run(policy.Time(6 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return next.Sub(ended)
}
