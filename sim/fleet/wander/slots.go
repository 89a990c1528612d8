package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Remember gives member i, which has not been up yet, an earlier life: it ran for the last time age ago, under a token that was made
// a little after the run of the cluster begins. Had it been made before, the member would discard the first token for a while: "the
// component discards a token t when it has been enabled from less than Δmin time units by another token preceding t" (Ciuffoletti,
// section 5).
func Remember(c *sim.Cluster, i int, age time.Duration) {
	under := wander.Memo{Token: wire.TokenID{Birth: c.Instant(i).Wall + int64(time.Hour)}}
	c.SetDiskState(i, policy.State{HasRun: true, LastRun: c.Now().Add(-age), Memo: under.Bytes()})
}

// Detail returns the status of member i, which must be up, with all that a soft gate has besides. In a gate with several tokens it is
// that of the slot whose watcher asks.
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

// lacksSlot reports whether a member has one slot less than the others.
func (s *Scenario) lacksSlot(member int) bool { return s.MixedSlots && member%3 == 1 }

// machine makes the machine of one member; place is where it lives if it is one that needs no more.
func (s *Scenario) machine(member int, cfg wander.Config, place *wander.Machine) policy.Machine {
	slots := s.Slots
	if s.lacksSlot(member) {
		slots--
	}
	if slots > 1 {
		return wander.NewGate(cfg, slots)
	}
	*place = *wander.New(cfg)
	return place
}
