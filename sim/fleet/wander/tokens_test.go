package wander

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// drawCrowd draws a fleet without faults whose members find each other only after each has made a token of its own. Its
// operations take up to fifty times as long as its members are told, and max_interval may be as short as min_interval.
// It also returns a bound for a lap.
func drawCrowd(seed uint64) (s Scenario, lap time.Duration) {
	d := drawing{sim.NewDice(seed, 7)}
	s = Scenario{
		Seed: seed, Members: 3 + d.IntN(40), Skip: d.Time(50*time.Millisecond, 2*time.Second), Backups: 1 + d.IntN(4),
	}
	walks := wander.Walks()
	s.Walk = walks[d.IntN(len(walks))]
	s.Network = sim.Network{Latency: d.Time(100*time.Microsecond, 60*time.Millisecond)}
	takes := d.Time(s.Skip, 20*time.Second)
	s.Hook = sim.Hook{Takes: takes, Spread: d.Share(0.02, 0.5)}
	all := time.Duration(s.Members)
	s.MinInterval = max(time.Duration(float64(all*takes)/d.Share(0.5, 20)), time.Second)
	s.Op = max(time.Duration(float64(takes)*d.Share(0.02, 1)), time.Millisecond)
	if d.Sometimes(0.5) {
		s.MaxInterval = max(s.MinInterval, time.Duration(d.Share(0.05, 1)*float64(all*takes)))
	}
	s.StartWithin = d.Time(time.Second, 20*time.Second)
	s.Membership = sim.Membership{
		GossipAfter: 20 * time.Second, DetectAfter: 10 * time.Second, RejoinAfter: 10 * time.Second,
	}
	return s, max(all*(takes+takes/2+s.Skip+6*s.Network.Latency), s.MinInterval+takes)
}

// From any number of tokens, and with any settings, a fleet without faults comes down to one token in each slot. In
// walks that go round it does so within three laps, including the false alarms that come before the members know how
// long a lap takes. On a random walk a member may wait for many laps, and takes the token for lost now and then; there
// the second token is soon gone.
func TestAFleetComesDownToOneToken(t *testing.T) {
	seeds := deep.Of[uint64](10, 20, 60)
	for seed := uint64(1); seed <= seeds; seed++ {
		s, lap := drawCrowd(seed)
		s.Slots = int(seed%3) + 1
		c := s.NewCluster()
		s.start(c)
		most, looks, crowded, longest, since := 0, 0, 0, time.Duration(0), time.Duration(0)
		met := 2 * (s.StartWithin + s.Membership.GossipAfter)
		for now := lap / 50; now < met+20*lap; now += lap / 50 {
			if err := c.Run(policy.Time(now)); err != nil {
				t.Fatal(err)
			}
			held := 0
			for slot := range s.Slots {
				held = max(held, heldIn(c, slot))
			}
			most = max(most, held)
			if now < met+3*lap {
				continue
			}
			looks++
			if held <= 1 {
				since = 0
				continue
			}
			crowded++
			since += lap / 50
			longest = max(longest, since)
		}
		if most < 2 {
			t.Errorf("seed %d: there was never a second token", seed)
		}
		if s.Walk != wander.Random && crowded > 0 || s.Walk == wander.Random && (longest > lap || crowded*10 > looks) {
			t.Errorf("seed %d, of up to %d tokens: after three laps of %v there are several for %d of %d looks, for "+
				"%v at a time\n%v",
				seed, most, lap, crowded, looks, longest, &s)
		}
	}
}

// heldIn returns how many members hold a token of a slot.
func heldIn(c *sim.Cluster, slot int) (held int) {
	for i := range c.Members() {
		if c.Up(i) && c.SlotStatus(i, slot).Holding {
			held++
		}
	}
	return held
}
