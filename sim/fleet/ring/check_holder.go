package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// NewHolderChecker checks that at most one member has the token.
func NewHolderChecker() sim.Watcher {
	holder := -1
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.Ends() && o.Member == holder {
			holder = -1
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Took && holder >= 0:
				return fmt.Errorf("holder: %s and %s both have the token", sim.MemberName(holder), o.Who())
			case e.Kind == policy.Took:
				holder = o.Member
			case e.Kind == policy.Gave:
				holder = -1
			}
		}
		return nil
	})
}
