package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// WakeChecker checks two rules of the contract. An early wake-up does nothing. And a machine that is woken in time does what is due: it
// does not ask for the same time again and again.
type WakeChecker struct{ spins map[int]spin }

// spin counts the wake-ups of a member at one moment.
type spin struct {
	at    policy.Time
	times int
}

// maxSpins bounds the wake-ups at one moment: each is for another deadline.
const maxSpins = 16

// NewWakeChecker returns a checker of one run.
func NewWakeChecker() *WakeChecker { return &WakeChecker{spins: map[int]spin{}} }

// Watch implements [sim.Watcher].
func (k *WakeChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped || o.Event.Kind != policy.Woke {
		return nil
	}
	if !o.Due {
		if o.Of > 0 {
			return fmt.Errorf("wake: %s is woken before its time and does something", sim.MemberName(o.Member))
		}
		return nil
	}
	s := k.spins[o.Member]
	if s.at != o.At {
		s = spin{at: o.At}
	}
	s.times++
	k.spins[o.Member] = s
	if s.times > maxSpins {
		return fmt.Errorf("wake: %s is woken %d times at one moment and asks for more", sim.MemberName(o.Member), s.times)
	}
	return nil
}
