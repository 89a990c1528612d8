package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// maxSpins bounds the number of wake-ups at one moment: each is for another deadline.
const maxSpins = 16

// century is later than any time for which a machine waits.
const century = 100 * 365 * 24 * time.Hour

// NewWakeChecker checks two rules of the contract. A wake-up that comes early does nothing, unless the answer of the
// host whether it is ready has become too old meanwhile. A machine that is woken in time does what is due: it does not
// ask for the same time again and again, nor for a time that never comes.
func NewWakeChecker() sim.Watcher {
	// spins counts the wake-ups of a member at one moment.
	type spins struct {
		at    policy.Time
		times int
	}
	return sim.EachMember(func(me *spins, c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case !o.On(policy.Woke):
			return nil
		case !o.Due && o.Of > 0 && c.Ready(o.Member):
			return fmt.Errorf("wake: %s is woken before its time and does something", o.Who())
		case !o.Due:
			return nil
		case me.at != o.At:
			*me = spins{at: o.At}
		}
		if at, ok := c.Machine(o.Member).NextWake(); ok && at.Sub(c.Instant(o.Member).Time) > century {
			return fmt.Errorf("wake: %s asks to be woken at %v", o.Who(), at)
		}
		if me.times++; me.times > maxSpins {
			return fmt.Errorf("wake: %s is woken %d times at one moment and asks for more", o.Who(), me.times)
		}
		return nil
	})
}
