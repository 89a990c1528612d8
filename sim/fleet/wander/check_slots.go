package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
)

// NewSlotChecker checks the rules that a gate with several tokens adds. A member never runs under two tokens at once.
// It has one record for all of them: the record names the token and the slot of a run before the run starts, and they
// stay until the next run. No record has a run for a caller beside an operation. retires is true if tokens too many are
// given up: then a record may forget under which one the last run was, but not that run.
//
//go:noinline
func NewSlotChecker(retires bool) sim.Watcher {
	return sim.EachLife(func(running *bool, c *sim.Cluster, o *sim.Occurrence) error {
		*running = *running && !o.On(policy.Finished)
		// This checks what a step saves before it is on the disk.
		was := c.Disk(o.Member)
		for e := range o.Did(policy.Save) {
			same := was.HasRun && e.State.HasRun && was.LastRun == e.State.LastRun
			before, after := soft.MemoOf(&was.Memo), soft.MemoOf(&e.State.Memo)
			forgets := retires && after.Slot == 0 && after.Token.IsZero()
			other := before.Slot != after.Slot || after.Token.IsZero() && !before.Token.IsZero()
			if same && other && !forgets {
				return fmt.Errorf("slots: %s records its last run under %v of slot %d, and it was under %v of slot %d",
					o.Who(), after.Token, after.Slot, before.Token, before.Slot)
			}
			was = e.State
		}
		for e := range o.Did(policy.Run) {
			if *running {
				return fmt.Errorf("slots: %s runs twice at once", o.Who())
			}
			saved, t := c.Disk(o.Member), &e.Token
			if under := soft.MemoOf(&saved.Memo); !e.Demanded && (under.Token != t.ID || under.Slot != t.Slot) {
				return fmt.Errorf("grant: %s runs under %v#%d without having saved it", o.Who(), t.ID, t.Seq)
			}
			*running = true
		}
		return nil
	})
}
