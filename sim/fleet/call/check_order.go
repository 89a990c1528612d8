package call

import (
	"fmt"
	"slices"
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

// newWaitersChecker checks that operators see at each holder how many wait.
//
//go:noinline
func newWaitersChecker() sim.Watcher {
	const someTokens = 16
	var facts []policy.Fact
	took := 0
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		for i := range o.Effects {
			e := &o.Effects[i]
			if e.Kind != policy.Took {
				continue
			}
			if took++; took%someTokens != 0 || !c.SlotStatus(o.Member, int(e.Token.Slot)).Holding {
				continue
			}
			facts = c.Machine(o.Member).Facts(c.Instant(o.Member).Time, facts[:0])
			if !slices.ContainsFunc(facts, func(f policy.Fact) bool {
				return f.Key == policy.KeyWaiters && f.Slot == e.Token.Slot
			}) {
				return fmt.Errorf("waiters: %s holds the token, and does not tell how many wait", o.Who())
			}
		}
		return nil
	})
}
