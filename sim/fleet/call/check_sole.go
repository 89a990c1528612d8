package call

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// sole is a call while nobody else waits or runs, and the fleet was silent.
type sole struct {
	cost
	waits, runs map[int]bool
	hasRun      bool
	last        policy.Time // when the fleet last did something
	open, ran   bool
	since       policy.Time
	sent        int
}

// cost is what a call may cost, and for how long a fleet is silent that is at rest.
type cost struct {
	silence, time time.Duration
	datagrams     int
}

// newSoleChecker checks what a call costs at rest where nothing goes wrong: the Call, the word to the holder, the three
// messages of a handoff, and one way to the guardians and back. So it takes six times as long as a datagram takes at
// most; and where all datagrams are as fast, nothing is sent twice: it costs at most seven, and two for each guardian.
//
//go:noinline
func newSoleChecker(most cost) sim.Watcher {
	return &sole{cost: most, waits: map[int]bool{}, runs: map[int]bool{}}
}

// Watch implements [sim.Watcher].
func (k *sole) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	busy := o.EndsRun() && k.runs[o.Member]
	if o.EndsRun() {
		delete(k.runs, o.Member)
	}
	if o.Ends() || o.On(policy.Unwanted) {
		delete(k.waits, o.Member)
		k.open, busy = false, true
	}
	if o.On(policy.Wanted) && !k.waits[o.Member] {
		k.open = k.hasRun && len(k.waits)+len(k.runs) == 0 && o.At >= k.last.Add(k.silence)
		k.waits[o.Member], busy = true, true
		k.ran, k.since, k.sent = false, o.At, 0
	}
	for i := range o.Effects {
		switch o.Effects[i].Kind {
		case policy.Send:
			k.sent, busy = k.sent+1, true
		case policy.Run:
			delete(k.waits, o.Member)
			k.runs[o.Member], k.hasRun, busy = true, true, true
			if took := o.At.Sub(k.since); k.open && !k.ran && took > k.time {
				return fmt.Errorf("sole: all is well and nobody else waits, and %s has waited for %v", o.Who(), took)
			}
			k.ran = true
		case policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce,
			policy.Proclaim, policy.Tell, policy.Gone:
		}
	}
	if k.open && k.datagrams > 0 && k.sent > k.datagrams {
		return fmt.Errorf("sole: all is well and nobody else waits, and one call costs %d datagrams", k.sent)
	}
	if busy {
		k.last = o.At
	}
	return nil
}
