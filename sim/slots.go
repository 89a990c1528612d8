package sim

import "github.com/wanderd/wanderd/policy"

// SlotView shows occurrences as one slot of a gate with several tokens sees them. The zero value is ready to use.
type SlotView struct {
	mine    Occurrence
	effects []policy.Effect
	// directed is the event of a slot that learns of a directive from a message to another one.
	directed policy.Event
}

// EachSlot returns a watcher that has one watcher for each slot of a gate; each of these sees its slot as if it were a
// gate. If there is only one slot, EachSlot returns that slot's watcher.
func EachSlot(slots int, one func() Watcher) Watcher {
	if slots <= 1 {
		return one()
	}
	var view SlotView
	watchers := make([]Watcher, slots)
	for slot := range watchers {
		watchers[slot] = one()
	}
	return WatcherFunc(func(c *Cluster, o *Occurrence) error {
		defer func() { c.slot = 0 }()
		for slot, w := range watchers {
			mine := view.Of(o, uint8(slot))
			if mine == nil {
				continue
			}
			c.slot = slot
			if err := w.Watch(c, mine); err != nil {
				return err
			}
		}
		return nil
	})
}

// Of returns the part of an occurrence that concerns a slot, nil if there is none. It is valid until the next call. A
// save concerns all slots, because they share one record. So does a directive, with whatever message it comes.
func (k *SlotView) Of(o *Occurrence, slot uint8) *Occurrence {
	if o.Kind != Stepped {
		return o
	}
	others, acts := o.Event.Kind == policy.Received && o.Event.Msg.Token.Slot != slot, false
	k.effects = k.effects[:0]
	cut := len(o.Effects) < o.Of
	for i := range o.Effects {
		e := &o.Effects[i]
		about := e.Token.Slot
		switch e.Kind {
		case policy.Send, policy.PreSign:
			about = e.Msg.Token.Slot
			acts = acts || about == slot
		case policy.Save, policy.Stop, policy.Announce, policy.Gone:
			about = slot
		case policy.Run, policy.Extend, policy.Took, policy.Gave, policy.Tell, policy.Proclaim:
			acts = acts || about == slot
		}
		if about == slot {
			k.effects = append(k.effects, *e)
		}
	}
	if others && !acts {
		return nil
	}
	k.mine = *o
	if others {
		k.directed = policy.Event{Kind: policy.Directed, Directive: o.Event.Msg.Directive}
		k.mine.Event = &k.directed
	}
	k.mine.Effects, k.mine.Of = k.effects, len(k.effects)
	if cut {
		k.mine.Of++
	}
	return &k.mine
}

// slotStatus returns the status of one slot of a machine. It is empty if the machine does not have that slot.
func slotStatus(m policy.Machine, slot int, now policy.Time) policy.Status {
	if several, ok := m.(policy.Slotted); ok {
		return several.SlotStatus(slot, now)
	}
	if slot > 0 {
		return policy.Status{}
	}
	return m.Status(now)
}
