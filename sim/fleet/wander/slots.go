package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

// Remember gives member i, which has not been up yet, an earlier life: its last run was age ago, under a token whose
// stamp is an hour after the beginning of the run. With an earlier stamp the member would discard the first token for a
// while: "the component discards a token t when it has been enabled from less than Δmin time units by another token
// preceding t" (Ciuffoletti, section 5).
func Remember(c *sim.Cluster, i int, age time.Duration) {
	under := soft.Memo{Token: wire.TokenID{Birth: c.Instant(i).Wall + int64(time.Hour)}}
	c.SetDiskState(i, policy.State{HasRun: true, LastRun: c.Now().Add(-age), Memo: under.Bytes()})
}

// Detail returns the detailed status of member i, which must be up. In a gate with several tokens it is the status of
// the watcher's slot.
func Detail(c *sim.Cluster, i int) wander.Detail {
	return wander.DetailOf(c.Machine(i), c.Slot(), c.Now())
}

// guarded reports whether member i, which must be up, holds a token that has guardians.
func guarded(c *sim.Cluster, i int) bool {
	if !c.Status(i).Holding {
		return false
	}
	s := Detail(c, i)
	trail := s.Trail()
	return trail.Len() > 0
}

// Tokens is how many tokens the gate has, when all members are there.
func (s *Scenario) Tokens() int {
	if s.SlotsShare > 0 {
		return check.ShareOf(s.Members, s.SlotsShare)
	}
	return max(s.Slots, 1)
}

// machine makes a member's machine; it uses place if the gate has one slot.
func (s *Scenario) machine(member int, cfg wander.Config, place *wander.Machine) policy.Machine {
	if s.SlotsShare > 0 {
		return wander.NewGate(cfg, 0)
	}
	slots := s.Slots
	if s.MixedSlots && member%3 == 1 {
		slots--
	}
	if slots > 1 {
		return wander.NewGate(cfg, slots)
	}
	*place = *wander.New(cfg)
	return place
}
