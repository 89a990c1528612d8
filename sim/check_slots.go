package sim

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
)

// SlotChecker holds what a gate with several tokens adds: no member runs under two of them at once.
type SlotChecker struct{ running map[int]bool }

// NewSlotChecker returns a checker of one run.
func NewSlotChecker() *SlotChecker { return &SlotChecker{running: map[int]bool{}} }

// Watch checks one step.
func (k *SlotChecker) Watch(_ *Cluster, o *Occurrence) error {
	if o.Ends() || o.Kind == Stepped && o.Event.Kind == policy.Finished {
		delete(k.running, o.Member)
	}
	if o.Kind != Stepped {
		return nil
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Run {
			continue
		}
		if k.running[o.Member] {
			return fmt.Errorf("slots: %s runs twice at once", MemberName(o.Member))
		}
		k.running[o.Member] = true
	}
	return nil
}
