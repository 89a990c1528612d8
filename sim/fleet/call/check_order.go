package call

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// newOrderChecker checks that those who wait are served in the order in which they came, where nothing goes wrong: one
// that came later goes first only if that was by less than most, because a home hears of some later than of others.
//
//go:noinline
func newOrderChecker(most time.Duration) sim.Watcher {
	since := map[int]policy.Time{}
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.Ends() || o.On(policy.Unwanted) {
			delete(since, o.Member)
		}
		if _, waits := since[o.Member]; o.On(policy.Wanted) && !waits {
			since[o.Member] = o.At
		}
		if !o.Does(policy.Run) {
			return nil
		}
		for other, came := range since {
			if late := since[o.Member].Sub(came); late > most {
				return fmt.Errorf("order: all is well, and %s runs before %s, which came %v earlier", o.Who(),
					sim.MemberName(other), late)
			}
		}
		delete(since, o.Member)
		return nil
	})
}
