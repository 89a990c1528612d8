package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// WakeChecker holds two rules of the contract. A wake-up before its time does nothing. And a machine that is woken at the
// time it asked for does what is due: it does not ask for the same time for ever.
type WakeChecker struct{ spins map[int]spin }

// spin is how often a member was woken at one moment.
type spin struct {
	at    policy.Time
	times int
}

// maxSpins is how often a machine may be woken at one moment: each time for another deadline of its own.
const maxSpins = 16

// NewWakeChecker returns a checker of one run.
func NewWakeChecker() *WakeChecker { return &WakeChecker{spins: map[int]spin{}} }

// Watch checks one step.
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
