package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// SlotChecker checks what a gate with several tokens adds. A member never runs under two tokens at once. It has one record for all of
// them: the record names the token and the slot of a run before that starts, and they stay until the next run.
type SlotChecker struct{ running map[int]bool }

// NewSlotChecker returns a checker of one run.
func NewSlotChecker() *SlotChecker { return &SlotChecker{running: map[int]bool{}} }

// Watch implements [sim.Watcher].
func (k *SlotChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() || o.Kind == sim.Stepped && o.Event.Kind == policy.Finished {
		delete(k.running, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if err := k.record(c, o); err != nil {
		return err
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		if k.running[o.Member] {
			return fmt.Errorf("slots: %s runs twice at once", sim.MemberName(o.Member))
		}
		saved, t := c.Disk(o.Member), &o.Effects[i].Token
		if under := wander.MemoOf(&saved.Memo); under.Token != t.ID || under.Slot != t.Slot {
			return fmt.Errorf("grant: %s runs under %v#%d without having saved it", sim.MemberName(o.Member), t.ID, t.Seq)
		}
		k.running[o.Member] = true
	}
	return nil
}

// record checks what a step saves, before it is on the disk.
func (k *SlotChecker) record(c *sim.Cluster, o *sim.Occurrence) error {
	was := c.Disk(o.Member)
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind != policy.Save {
			continue
		}
		same := was.HasRun && e.State.HasRun && was.LastRun == e.State.LastRun
		before, after := wander.MemoOf(&was.Memo), wander.MemoOf(&e.State.Memo)
		if same && (before.Slot != after.Slot || after.Token.IsZero() && !before.Token.IsZero()) {
			return fmt.Errorf("slots: %s records its last run under %v of slot %d, and it was under %v of slot %d",
				sim.MemberName(o.Member), after.Token, after.Slot, before.Token, before.Slot)
		}
		was = e.State
	}
	return nil
}
