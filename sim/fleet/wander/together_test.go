package wander

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// sweepOf is a fleet in which every member is due when the token comes, with guardians and a membership as measured.
func sweepOf(seed uint64, members int, change func(*Scenario)) *Scenario {
	s := fleet(members)
	s.Seed, s.Walk, s.Backups, s.Membership = seed, wander.Sweep, 2, sim.MeasuredMembership(members)
	s.MinInterval, s.MaxInterval = time.Minute, 0
	change(&s)
	return &s
}

// busy lets a fleet work until a moment of its second lap. It returns the holder, and which member follows which in the
// first lap.
func busy(t *testing.T, s *Scenario, watchers ...sim.Watcher) (c *sim.Cluster, held int, follows map[int]int) {
	t.Helper()
	follows = map[int]int{}
	c = s.NewCluster(append(watchers, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		for i := range o.Effects {
			if e := &o.Effects[i]; e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken {
				follows[o.Member] = sim.IndexOf(e.Msg.To)
			}
		}
		return nil
	}))...)
	s.start(c)
	dice := rand.New(rand.NewPCG(s.Seed, 1))
	if err := c.Run(policy.Time(s.lap() + time.Duration(dice.Int64N(int64(s.lap()/2))))); err != nil {
		t.Fatal(err)
	}
	for held = holder(c); held < 0; held = holder(c) {
		if err := c.Run(c.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	return c, held, follows
}

// guardiansOf returns the guardians of the token of a holder.
func guardiansOf(c *sim.Cluster, held int) (of []int) {
	status := Detail(c, held)
	trail := status.Trail()
	for _, id := range trail[:trail.Len()] {
		of = append(of, sim.IndexOf(id))
	}
	return of
}

// heldAfter lets time pass until a member that stays holds a token, and returns how long that takes. It returns most if
// it takes longer than most.
func heldAfter(t *testing.T, c *sim.Cluster, most time.Duration, gone map[int]bool) time.Duration {
	t.Helper()
	begin := c.Now()
	for c.Now().Sub(begin) < most {
		if err := c.Run(c.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if h := holder(c); h >= 0 && !gone[h] {
			return c.Now().Sub(begin)
		}
	}
	return most
}

// An agent that stops normally passes its token on while any member stays, whichever members stop at the same moment:
// the holder, its guardians, and the member to which it would pass the token next; or most of all members.
func TestStopsInOneMomentLoseNoToken(t *testing.T) {
	const most = 20 * time.Second // the default timeout of an agent
	for _, tc := range []struct {
		members, seeds int
		// share is the share of members that stop. Zero means the holder, its guardians and the next member.
		share float64
		skip  time.Duration
		walk  wander.Walk
	}{
		{60, 25, 0, time.Second, wander.Sweep},
		{100, 25, 0, time.Second, wander.Sweep},
		{200, 25, 0, time.Second, wander.Sweep},
		{300, 25, 0, time.Second, wander.Sweep},
		{60, 200, 0.5, time.Second, wander.Sweep},
		{60, 25, 0.5, time.Second, wander.Random},
		{60, 25, 0.5, time.Second, wander.Shuffle},
		{60, 25, 0.5, 250 * time.Millisecond, wander.Sweep},
		{60, 25, 0.5, 10 * time.Second, wander.Sweep},
		{300, 10, 0.5, time.Second, wander.Sweep},
		{100, 25, 0.99, time.Second, wander.Sweep},
	} {
		lost, longest := 0, time.Duration(0)
		for seed := range uint64(deep.Of(max(tc.seeds/10, 2), max(tc.seeds/4, 2), tc.seeds)) {
			c, held, follows := busy(t, sweepOf(seed+1, tc.members, func(s *Scenario) {
				s.Skip, s.Walk = tc.skip, tc.walk
			}))
			gone := map[int]bool{}
			if tc.share > 0 {
				for _, i := range rand.New(rand.NewPCG(seed, 2)).Perm(tc.members)[:int(tc.share*float64(tc.members))] {
					gone[i] = true
				}
			} else {
				for _, i := range append(guardiansOf(c, held), held, follows[held]) {
					gone[i] = true
				}
			}
			for i := range tc.members {
				if gone[i] {
					c.Leave(i)
				}
			}
			after := heldAfter(t, c, most, gone)
			if longest = max(longest, after); after == most {
				lost++
			}
		}
		t.Logf("%+v: lost in %d, held again after at most %v", tc, lost, longest)
		if lost > 0 {
			t.Errorf("%d members: the token is lost", tc.members)
		}
	}
}

// A live holder keeps its token, however many members there are: its guardians and the next member lose power, and
// other members can take the token.
func TestAHealthyHolderKeepsItsToken(t *testing.T) {
	const most = time.Minute
	for _, members := range []int{20, 64, 100, 300, 1000} {
		lost, longest := 0, time.Duration(0)
		const seeds = 5
		for seed := range uint64(seeds) {
			c, held, follows := busy(t, sweepOf(seed+1, members, func(*Scenario) {}))
			gone := map[int]bool{}
			for _, i := range append(guardiansOf(c, held), follows[held]) {
				gone[i] = true
				c.PowerCut(i)
			}
			gone[held] = true
			after := heldAfter(t, c, most, gone)
			if longest = max(longest, after); after == most {
				lost++
			}
		}
		t.Logf("%d members: lost in %d of %d, held by another member after at most %v, a run of %v among that", members,
			lost, seeds, longest, 4*time.Second)
		if lost > 0 {
			t.Errorf("%d members: the token is lost", members)
		}
	}
}

// A token survives the loss of its holder and of all its guardians but one, at the cost of half a skip for each of
// them.
func TestEachGuardianMoreOutlivesAHostMore(t *testing.T) {
	for _, members := range []int{100, 300} {
		for backups := 1; backups <= guardian.MaxBackups; backups++ {
			c, held, _ := busy(t, sweepOf(uint64(backups), members, func(s *Scenario) { s.Backups = backups }))
			of := guardiansOf(c, held)
			if len(of) != backups {
				t.Fatalf("%d guardians, want %d", len(of), backups)
			}
			gone := map[int]bool{held: true}
			c.PowerCut(held)
			for _, i := range of[:backups-1] {
				gone[i] = true
				c.PowerCut(i)
			}
			most := time.Duration(backups+2) * time.Second / 2
			after := heldAfter(t, c, time.Minute, gone)
			t.Logf("%d members, backups %d: holder and %d guardians lose power, held again after %v", members, backups,
				backups-1, after)
			if after > most+time.Second/4 {
				t.Errorf("want %v", most)
			}
		}
	}
}
