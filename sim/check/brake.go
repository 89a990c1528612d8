package check

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// BrakeChecker checks that the gate is paused when so many hosts have failed in a row, and not before. It is for worlds with one token that
// is never lost: there the failures have an order that all can know.
type BrakeChecker struct {
	stopAfter int
	// row are the members that have failed since the last success, or since the last order.
	row map[int]bool
	// newest is the newest order that somebody has given: those who do not know it count apart.
	newest wire.Order
	// knew is the newest order that each member knew after its last step.
	knew map[int]wire.Order
}

// NewBrakeChecker returns a checker of one run.
func NewBrakeChecker(stopAfter int) *BrakeChecker {
	return &BrakeChecker{stopAfter: stopAfter, row: map[int]bool{}, knew: map[int]wire.Order{}}
}

// Watch implements [sim.Watcher].
func (k *BrakeChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	e, before, knew := o.Event, len(k.row), k.knew[o.Member]
	k.knew[o.Member] = c.Orders(o.Member).Newest()
	switch {
	case e.Kind == policy.Ordered && !e.Here && e.Order.Compare(k.newest) > 0:
		clear(k.row)
		k.newest = e.Order
	case e.Kind != policy.Finished || e.Denied || knew.Compare(k.newest) < 0:
		return nil
	case e.Outcome == policy.Succeeded:
		clear(k.row)
	case e.Outcome == policy.Failed && e.Exit > 0:
		k.row[o.Member] = true
	}
	brakes := slices.ContainsFunc(o.Effects, func(e policy.Effect) bool { return e.Kind == policy.Proclaim })
	if brakes && e.Kind == policy.Finished {
		k.newest = k.knew[o.Member]
	}
	switch want := len(k.row) >= k.stopAfter; {
	case before >= k.stopAfter: // it is paused already, or just resumed
	case want && !c.PausedByOrder(o.Member):
		return fmt.Errorf("brake: %d hosts have failed in a row, and the gate goes on", len(k.row))
	case !want && brakes && e.Kind == policy.Finished:
		return fmt.Errorf("brake: %d hosts have failed in a row, and the gate is paused", len(k.row))
	}
	return nil
}
