package call

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

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
