package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// NewBrakeChecker checks that the gate is paused when stopAfter hosts have failed in a row, and not before. It is for
// worlds with one token that is never lost: there, all members can know the sequence of the failures.
func NewBrakeChecker(stopAfter int) sim.Watcher {
	// row are the members that have failed since the last success, or since the last directive. newest is the newest
	// directive that was given: failures at members that do not know it count apart. Runs for callers do not count.
	row, newest := map[int]bool{}, wire.Directive{}
	return sim.EachMember(func(known *wire.Directive, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped || c.StopsAfter() == 0 {
			return nil
		}
		e, before, knew := o.Event, len(row), *known
		*known = c.Directives(o.Member).Newest()
		switch {
		case e.Kind == policy.Directed && !e.Here && e.Directive.Compare(newest) > 0:
			clear(row)
			newest = e.Directive
		case e.Kind != policy.Finished || e.Denied || o.Demanded || knew.Compare(newest) < 0:
			return nil
		case e.Outcome == policy.Succeeded:
			clear(row)
		case e.Outcome == policy.Failed && e.Exit > 0:
			row[o.Member] = true
		}
		brakes := e.Kind == policy.Finished && o.Does(policy.Proclaim)
		if brakes {
			newest = *known
		}
		switch want := len(row) >= stopAfter; {
		case before >= stopAfter: // The gate is paused already, or has just been resumed.
		case want && !c.PausedByDirective(o.Member):
			return fmt.Errorf("brake: %d hosts have failed in a row, and the gate goes on", len(row))
		case !want && brakes:
			return fmt.Errorf("brake: %d hosts have failed in a row, and the gate is paused", len(row))
		}
		return nil
	})
}
