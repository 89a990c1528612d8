package call

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// after returns how long a caller waits when the members that kill names have lost their hosts, at rest. Membership
// notices that within five seconds or a little more.
func after(t *testing.T, seed uint64, members int, kill func(holder int, homes []int) []int) time.Duration {
	t.Helper()
	s, m := idle(members, 1), &Meter{}
	s.Seed, s.Demand = seed, sim.Demand{}
	c := s.NewCluster(m)
	s.start(c)
	run := func(d time.Duration) {
		if err := c.Run(c.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	run(20 * s.Skip)
	holder := int(seed) % members
	c.Want(holder)
	run(s.Op + 20*s.Skip)
	if !c.Status(holder).Holding {
		t.Fatalf("seed %d: the token is not where it was last used", seed)
	}
	var homes []int
	for _, f := range c.Machine(holder).Facts(c.Now(), nil) {
		if f.Key == policy.KeyGuardian {
			homes = append(homes, sim.IndexOf(f.Member))
		}
	}
	dead := kill(holder, homes)
	for _, i := range dead {
		c.PowerCut(i)
	}
	run(s.Skip / 4)
	caller := holder
	for slices.Contains(dead, caller) || caller == holder || slices.Contains(homes, caller) {
		caller = (caller + 1) % members
	}
	m.Reset()
	c.Want(caller)
	run(5 * time.Minute)
	if len(m.Waits) != 1 {
		t.Fatalf("seed %d: %d runs", seed, len(m.Waits))
	}
	return m.Waits[0]
}

func TestTheNextRunComesSoonAfterAHostIsLost(t *testing.T) {
	const seeds = 20
	for _, c := range []struct {
		what    string
		members int
		most    time.Duration
		kill    func(holder int, homes []int) []int
	}{
		{"holder", 10, 1800 * time.Millisecond, func(h int, _ []int) []int { return []int{h} }},
		{"holder", 150, 1800 * time.Millisecond, func(h int, _ []int) []int { return []int{h} }},
		{"first home", 10, 500 * time.Millisecond, func(_ int, homes []int) []int { return homes[:1] }},
		{"first home", 150, 500 * time.Millisecond, func(_ int, homes []int) []int { return homes[:1] }},
		{"holder and homes", 10, 8 * time.Second, func(h int, homes []int) []int { return append(homes, h) }},
		{"holder and homes", 50, 8 * time.Second, func(h int, homes []int) []int { return append(homes, h) }},
		{"holder and homes", 150, 8 * time.Second, func(h int, homes []int) []int { return append(homes, h) }},
		{"holder and homes", 1000, 12 * time.Second, func(h int, homes []int) []int { return append(homes, h) }},
	} {
		var waits []time.Duration
		for seed := range uint64(seeds) {
			waits = append(waits, after(t, seed+1, c.members, c.kill))
		}
		slices.Sort(waits)
		t.Logf("%s of %d: median %v, longest %v", c.what, c.members, waits[seeds/2], waits[seeds-1])
		if waits[seeds-1] > c.most {
			t.Errorf("that is more than %v", c.most)
		}
	}
}
