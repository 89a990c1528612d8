package wander

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Standing is a fault that begins when all others are over, and stays. The fleet is checked while it lasts.
type Standing uint8

const (
	// NothingStands means that there is no such fault.
	NothingStands Standing = iota
	// OneIsDeaf: one member hears nothing.
	OneIsDeaf
	// OneIsMute: one member is not heard.
	OneIsMute
	// TwoParts: neither part of the network reaches the other.
	TwoParts
	// BrokenPairs: some ordered pairs never deliver.
	BrokenPairs
	// NothingArrives: every datagram is lost, as behind a firewall. Gossip goes on by streams.
	NothingArrives
	// OneLinkCut: two members do not reach each other, or only one of them reaches the other.
	OneLinkCut
	// OneDiskSlow: one member's saves take so long that no run waits for them.
	OneDiskSlow

	standingEnd
)

// String returns a clause.
func (s Standing) String() string {
	return [standingEnd]string{
		"nothing stands", "one is deaf", "one is mute", "two parts", "broken pairs",
		"nothing arrives", "one link is cut", "one disk is slow",
	}[s]
}

// runners are the members whose operation has run since some moment. It is a [sim.Watcher].
type runners map[int]bool

// Watch implements [sim.Watcher].
func (r runners) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for range o.Operations() {
		r[o.Member] = true
	}
	return nil
}

// beginStanding begins the fault. It returns the member that has the fault, if it is a fault of one member.
func (s *Scenario) beginStanding(c *sim.Cluster, n sim.Network) (one int) {
	dice := rand.New(rand.NewPCG(s.Seed, sim.Mix(8)))
	one = dice.IntN(c.Members())
	switch s.Standing {
	case OneIsDeaf:
		c.Deafen(one, true)
	case OneIsMute:
		c.Mute(one, true)
	case TwoParts:
		sides := make([]bool, c.Members())
		for i := range sides {
			sides[i] = i == one || dice.Uint64()&1 == 0
		}
		c.Part(sides, false)
	case BrokenPairs:
		n.Broken = 0.1 + 0.4*dice.Float64()
		c.SetNetwork(n)
	case NothingArrives:
		n.Loss = 1
		c.SetNetwork(n)
	case OneLinkCut:
		other := (one + 1 + dice.IntN(c.Members()-1)) % c.Members()
		c.CutLink(one, other)
		if dice.Uint64()&1 == 0 {
			c.CutLink(other, one)
		}
	case OneDiskSlow:
		c.SetDisk(one, sim.Disk{Takes: 2 * s.settings().SaveWithin()})
	case NothingStands, standingEnd:
	}
	return one
}

// standParts divides the time that a healed fleet may need: the fault stands for a fifth of it, and then for another
// fifth in which some member must run.
const standParts = 5

// stand lets the fault stand, if there is one, and checks that some member runs. If members are in groups that can talk
// to each other, every member of each group must run, except a member whose saves are too slow.
func (s *Scenario) stand(c *sim.Cluster, ran runners, sound sim.Network) error {
	if s.Standing == NothingStands {
		return nil
	}
	// Members that have never seen another one may wait for ever, so all must meet first; also those that have started
	// again before they did so.
	if s.WaitAlone {
		met := policy.Time(s.StartWithin)
		if s.someSeeNobody(c) {
			met = max(met, c.Now())
		}
		if met = met.Add(s.Membership.GossipAfter + s.Membership.Spread); c.Now() < met {
			if err := c.Run(met); err != nil {
				return err
			}
		}
	}
	one := s.beginStanding(c, sound)
	defer func() {
		c.Repair(sound)
		if s.Standing == OneDiskSlow {
			c.SetDisk(one, sim.Disk{})
		}
	}()
	settled := s.bound(c) / standParts
	if s.Faults.LeaveEvery > 0 || s.Faults.Restart.Gracefully {
		settled += stopTimeout // Members that have begun to leave may not be able to, and are killed first.
	}
	if err := c.Run(c.Now().Add(settled)); err != nil {
		return err
	}
	clear(ran)
	while := s.bound(c) / standParts
	if err := c.Run(c.Now().Add(while)); err != nil {
		return err
	}
	if len(ran) == 0 {
		return fmt.Errorf("standing: %v, and nobody has run for %v", s.Standing, while)
	}
	// A token names the members that its holders could not reach by the first bytes of their identities, which are all
	// alike if identities are in order: then nobody else tries such a member first.
	unnamed := s.Standing == OneLinkCut && s.Order == sim.InOrder
	if s.Standing == BrokenPairs || s.Standing == NothingArrives || unnamed {
		return nil
	}
	for _, part := range parts(c) {
		if len(part) == 1 {
			continue
		}
		if !slices.ContainsFunc(part, func(i int) bool { return ran[i] }) {
			return fmt.Errorf("standing: %v, and nobody among %s and %d others that can talk has run for %v",
				s.Standing, sim.MemberName(part[0]), len(part)-1, while)
		}
		for _, i := range part {
			if !ran[i] && s.hasTurns() && !(s.Standing == OneDiskSlow && i == one) {
				return fmt.Errorf("standing: %v, and %s has not run for %v, but others with which it can talk have",
					s.Standing, sim.MemberName(i), while)
			}
		}
	}
	return nil
}

// someSeeNobody reports whether a member that is up sees no other one.
func (s *Scenario) someSeeNobody(c *sim.Cluster) bool {
	for i := range s.Members {
		if c.Up(i) && len(c.View(i)) < 2 {
			return true
		}
	}
	return false
}

// hasTurns reports whether every member is due in each lap, or in the next: no member waits for a caller or for its
// host to be ready, and members agree on which tokens visit them.
func (s *Scenario) hasTurns() bool { return !s.onDemand() && s.Ready == sim.Ready{} && !s.MixedSlots }

// parts returns the members that are up, in groups that are connected in both directions.
func parts(c *sim.Cluster) (all [][]int) {
	talk := func(a, b int) bool { return c.Reaches(a, b) && c.Reaches(b, a) }
	part := make([]int, c.Members())
	for i := range part {
		if part[i] > 0 || !c.Up(i) {
			continue
		}
		group := []int{i}
		part[i] = len(all) + 1
		for next := 0; next < len(group); next++ {
			for j := range part {
				if part[j] == 0 && c.Up(j) && talk(group[next], j) {
					part[j] = len(all) + 1
					group = append(group, j)
				}
			}
		}
		all = append(all, group)
	}
	return all
}

// someStay reports whether a fault stays when the others are over, for all or for the members outside of a core.
func (s *Scenario) someStay() bool { return s.Standing != NothingStands || s.Core.Of > 0 }

// healCore heals a core, and lets time pass until each of its members has had its turn, or has been served if members
// run on demand. Then it heals the others.
func (s *Scenario) healCore(c *sim.Cluster, ran runners, served *check.Served) error {
	core, sound, bound := s.Core.In(s.Seed, s.Members), s.Network.Sound(), s.coreBound(c)
	c.HealCore(core, s.Core.Stays, sound, bound)
	clear(ran)
	healed := c.Now()
	defer c.EndStanding(sound)
	for {
		i, what := s.waitsInCore(c, healed, core, ran, served)
		if i < 0 {
			return c.Run(s.allBack(c))
		}
		// A member that has just started may know no better than to wait for longer.
		if bound = max(bound, s.coreBound(c)); c.Now() >= healed.Add(bound) {
			return fmt.Errorf("core: the faults have ended %v ago in a core of %d of %d, and %s %s; the others are %v",
				bound, s.Core.Of, s.Members, sim.MemberName(i), what, s.Core.Stays)
		}
		if err := c.Run(c.Now().Add(max(bound/64, time.Millisecond))); err != nil {
			return err
		}
	}
}

// waitsInCore returns a member of the core that has had no turn since the core was healed, and what it does; or -1.
func (s *Scenario) waitsInCore(c *sim.Cluster, healed policy.Time, core []bool, ran runners, served *check.Served) (
	member int, what string,
) {
	if s.onDemand() {
		member, _ = served.Waits(c, healed, func(i int) bool { return core[i] })
		return member, "waits for a caller's turn"
	}
	for i, in := range core {
		if in && !ran[i] && s.hasTurns() {
			return i, "has had no turn"
		}
	}
	return -1, ""
}

// coreSilences is how many times as long as a token is missed before it counts as lost a healed core may need.
const coreSilences = 10

// coreBound is how long a healed core may need.
func (s *Scenario) coreBound(c *sim.Cluster) time.Duration {
	return s.settles() + coreSilences*s.silence(c)
}

// allBack returns when the last member comes back whose process is paused.
func (s *Scenario) allBack(c *sim.Cluster) policy.Time {
	last := c.Now()
	for i := range s.Members {
		if c.Up(i) && c.Away(i) {
			last = max(last, c.AwayUntil(i))
		}
	}
	return last
}
