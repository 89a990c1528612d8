package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// made counts the tokens that are made after a silence, and remembers when the first of them was.
type made struct {
	count int
	first policy.Time
}

// Watch implements [sim.Watcher].
func (m *made) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind != policy.Tell || e.Note != wander.NoteRegenerated {
			continue
		}
		if m.count++; m.count == 1 {
			m.first = o.At
		}
	}
	return nil
}

// longRun lets a fleet of 150 live until one of its operations is about to take a day. It returns the fleet, and a
// count of the tokens that are made from then on. max_interval is half an hour.
func longRun(t *testing.T, walk wander.Walk, seed uint64) (*sim.Cluster, *made) {
	t.Helper()
	s := wandering.Scenario{
		Seed: seed, Members: 150, Skip: time.Second, Op: 4 * time.Second, MinInterval: 600 * time.Second, Walk: walk,
		Backups: 2,
		Network: sim.Network{Latency: 20 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02},
		Hook:    sim.Hook{Takes: 4 * time.Second},
	}
	m := &made{}
	c := s.NewCluster(append(s.Checkers(), m)...)
	c.BootWithToken(0)
	advance(t, c, 2*time.Hour) // On a random walk it takes some laps until every member has met the token.
	for {
		advance(t, c, time.Second)
		for i := range c.Members() {
			if c.Status(i).Why == wander.WhyRunning {
				c.Prolong(i, 24*time.Hour)
				*m = made{}
				return c, m
			}
		}
	}
}

func advance(t *testing.T, c *sim.Cluster, d time.Duration) {
	t.Helper()
	if err := c.Run(c.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

func TestNobodyMakesATokenWhileGuardiansHearOfOne(t *testing.T) {
	deep.AtNight(t, "a day of a fleet")
	for _, walk := range wander.Walks() {
		c, m := longRun(t, walk, 1)
		advance(t, c, 24*time.Hour)
		if m.count > 0 {
			t.Errorf("%v: %d tokens were made while one was held", walk, m.count)
		}
	}
}

// What members were told of the token must not keep the fleet from making a new one. The holder and its guardians are
// restarted at once, so that no member sees them go: then the loss is not certain, and max_interval is the rule.
func TestATokenThatDiesWithItsGuardiansInALongRunIsReplaced(t *testing.T) {
	deep.AtNight(t, "long runs of a fleet")
	for _, walk := range wander.Walks() {
		c, m := longRun(t, walk, 2)
		advance(t, c, 5*time.Hour)
		for i := range c.Members() {
			if s := wandering.Detail(c, i); s.Holding || s.Keeps {
				c.Crash(i)
				c.Start(i)
			}
		}
		died := c.Now()
		advance(t, c, 2*time.Hour)
		after := m.first.Sub(died)
		t.Logf("%v: after %v; %d were made", walk, after, m.count)
		if limit := 30*time.Minute + 2*10*time.Minute + 10*time.Second; m.count < 1 || m.count > 4 || after > limit {
			t.Errorf("%v: %d tokens were made, the first after %v; want one to four within %v", walk, m.count, after,
				limit)
		}
	}
}
