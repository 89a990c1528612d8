package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// SilentChecker holds that a ring in which nobody asks sends no message.
type SilentChecker struct{ from policy.Time }

// Begin says that nobody asks any more, and that all that followed from the last demand is over by then.
func (k *SilentChecker) Begin(from policy.Time) { k.from = from }

// Watch implements [sim.Watcher].
func (k *SilentChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if k.from > 0 && o.At >= k.from && o.Does(policy.Send) {
		return fmt.Errorf("silent: %s sends a message, and nobody waits", o.Who())
	}
	return nil
}
