package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// bySlot lets one watcher look at each slot of a gate with several tokens, as if it were a gate of its own.
type bySlot struct {
	watchers []Watcher
	mine     Occurrence
	effects  []policy.Effect
}

// eachSlot makes a watcher for each slot; where there is one, it is that watcher.
func eachSlot(slots int, one func() Watcher) Watcher {
	if slots <= 1 {
		return one()
	}
	k := &bySlot{}
	for range slots {
		k.watchers = append(k.watchers, one())
	}
	return k
}

// Watch shows each watcher what concerns its slot.
func (k *bySlot) Watch(c *Cluster, o *Occurrence) error {
	defer func() { c.slot = 0 }()
	for slot, w := range k.watchers {
		mine := k.ofSlot(o, uint8(slot))
		if mine == nil {
			continue
		}
		c.slot = slot
		if err := w.Watch(c, mine); err != nil {
			return err
		}
	}
	return nil
}

// ofSlot is what an occurrence has to do with a slot, good until the next call; nil if it has nothing. A save is everybody's:
// there is one record.
func (k *bySlot) ofSlot(o *Occurrence, slot uint8) *Occurrence {
	if o.Kind != Stepped {
		return o
	}
	if o.Event.Kind == policy.Received && o.Event.Msg.Token.Slot != slot {
		return nil
	}
	k.effects = k.effects[:0]
	cut := len(o.Effects) < o.Of
	for i := range o.Effects {
		e := &o.Effects[i]
		about := e.Token.Slot
		switch e.Kind {
		case policy.Send, policy.Entrust:
			about = e.Msg.Token.Slot
		case policy.Save, policy.Stop, policy.Announce, policy.Gone:
			about = slot
		case policy.Run, policy.Extend, policy.Took, policy.Gave, policy.Tell:
		}
		if about == slot {
			k.effects = append(k.effects, *e)
		}
	}
	k.mine = *o
	k.mine.Effects, k.mine.Of = k.effects, len(k.effects)
	if cut {
		k.mine.Of++
	}
	return &k.mine
}

// slotStatus is the status of one slot of a machine; nothing, if it does not have that slot.
func slotStatus(m policy.Machine, slot int, now policy.Time) policy.Status {
	if several, ok := m.(policy.Slotted); ok {
		return several.SlotStatus(slot, now)
	}
	if slot > 0 {
		return policy.Status{}
	}
	return m.Status(now)
}

// Remember gives member i, which has not been up yet, an earlier life: it ran for the last time age ago, under a token that was made
// a little after the run of the cluster begins. Had it been made before, the member would discard the first token for a while: "the
// component discards a token t when it has been enabled from less than Δmin time units by another token preceding t" (Ciuffoletti,
// section 5).
func (c *Cluster) Remember(i int, age time.Duration) {
	under := wander.Memo{Token: wire.TokenID{Birth: c.instant(int32(i)).Wall + int64(time.Hour)}}
	c.members[i].disk = policy.State{HasRun: true, LastRun: c.now.Add(-age), Memo: under.Bytes()}
}

// Detail returns the status of member i, which must be up, with all that a soft gate has besides. In a gate with several tokens it is
// that of the slot whose watcher asks.
func (c *Cluster) Detail(i int) wander.Detail {
	return wander.DetailOf(c.members[i].machine, c.slot, c.now)
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
