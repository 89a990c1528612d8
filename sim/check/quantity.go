package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// quantities counts what has gone wrong, the tokens, and who runs in each slot. parts is how many parts a network that
// is cut has; revived are the revived tokens with their numbers.
type quantities struct {
	slots, parts, faults, tokens int
	running                      map[int]uint8
	revived                      map[wire.Ref]bool
}

// NewQuantityChecker checks how much a world costs in which f things have gone wrong so far: a gate has made or revived
// at most 1 + f tokens for each slot, and at most 1 + f members run at once in a slot. So where nothing goes wrong,
// each slot has one token, and one member runs. A datagram that is lost or played back counts, and so does a member
// that crashes, leaves or comes back, a network that is cut or healed, and an operator who asks for a new token; a
// network that is cut in several parts at once counts for each part more than one. A member that stands still counts
// twice: it goes on later. Two guardians that revive a token with the same tie count, too: one of the two copies is
// taken for the other, and is lost where they meet. The world has no other faults: no datagram is late, no disk is
// slow.
//
//go:noinline
func NewQuantityChecker(slots, parts int) sim.Watcher {
	return &quantities{
		slots: max(slots, 1), parts: max(parts, 2), running: map[int]uint8{}, revived: map[wire.Ref]bool{},
	}
}

// Watch implements [sim.Watcher].
func (k *quantities) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	switch o.Kind {
	case sim.Stepped:
	case sim.Came:
		if o.At > 0 {
			k.faults++
		}
	case sim.Ignored, sim.Duplicated, sim.RunGone:
	case sim.Paused, sim.Slept:
		k.faults += 2
	case sim.Cut:
		k.faults += k.parts - 1
	case sim.Lost, sim.Played, sim.Crashed, sim.Departed, sim.Healed:
		k.faults++
	}
	if o.On(policy.Renew) {
		k.faults++
	}
	if o.EndsRun() {
		delete(k.running, o.Member)
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		switch {
		case e.Kind == policy.Took && (e.Cause == policy.CauseMade || e.Cause == policy.CauseRevived):
			if e.Cause == policy.CauseRevived {
				if k.revived[e.Token] {
					k.faults++
				}
				k.revived[e.Token] = true
			}
			if k.tokens++; k.tokens > k.slots*(1+k.faults) {
				return fmt.Errorf("quantity: %s makes or revives a token, the %dth of a gate with %d slots, and %d "+
					"things have gone wrong", o.Who(), k.tokens, k.slots, k.faults)
			}
		case e.Kind == policy.Run:
			k.running[o.Member] = e.Token.Slot
			if n := k.beside(e.Token.Slot); n > 1+k.faults {
				return fmt.Errorf("quantity: %s runs, and so do %d others in slot %d, and %d things have gone wrong",
					o.Who(), n-1, e.Token.Slot, k.faults)
			}
		}
	}
	return nil
}

// beside returns how many members run in a slot.
func (k *quantities) beside(slot uint8) (n int) {
	for _, s := range k.running {
		if s == slot {
			n++
		}
	}
	return n
}
