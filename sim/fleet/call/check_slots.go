package call

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// newOnceChecker checks that a member never runs twice at once, and that each number of slot is one of the gate.
//
//go:noinline
func newOnceChecker(slots int) sim.Watcher {
	return sim.EachLife(func(running *bool, _ *sim.Cluster, o *sim.Occurrence) error {
		*running = *running && !o.On(policy.Finished)
		for e := range o.Did(policy.Run) {
			if *running {
				return fmt.Errorf("once: %s runs twice at once", o.Who())
			}
			if int(e.Token.Slot) >= slots {
				return fmt.Errorf("once: %s runs in slot %d of %d", o.Who(), e.Token.Slot, slots)
			}
			*running = true
		}
		return nil
	})
}

// idleness knows who waits, and since when each token is in no use.
type idleness struct {
	most time.Duration
	// runs has the slot under which a member runs.
	runs  map[int]uint8
	waits map[int]policy.Time
	// idle is since when nobody runs under the token of a slot; Never while somebody does.
	idle []policy.Time
}

// newIdleChecker checks that no member waits for longer than that while nobody runs under one of the tokens. That holds
// where nothing goes wrong.
func newIdleChecker(slots int, most time.Duration) sim.Watcher {
	return &idleness{most: most, runs: map[int]uint8{}, waits: map[int]policy.Time{}, idle: make([]policy.Time, slots)}
}

// Watch implements [sim.Watcher].
func (k *idleness) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if idle := slices.Min(k.idle); o.At.Sub(idle) > k.most {
		for i, since := range k.waits {
			if _, runs := k.runs[i]; !runs && o.At.Sub(max(since, idle)) > k.most {
				return fmt.Errorf("idle: a token is in no use since %s, and %s has waited for one for %v",
					sim.Seconds(idle), sim.MemberName(i), o.At.Sub(since))
			}
		}
	}
	switch {
	case o.EndsRun():
		if slot, runs := k.runs[o.Member]; runs {
			k.idle[slot] = o.At
		}
		if delete(k.runs, o.Member); k.waits[o.Member] > 0 {
			k.waits[o.Member] = o.At // It could not run twice at once.
		}
	case o.On(policy.Wanted) && k.waits[o.Member] == 0:
		k.waits[o.Member] = max(o.At, 1)
	case o.On(policy.Unwanted):
		delete(k.waits, o.Member)
	}
	for e := range o.Did(policy.Run) {
		delete(k.waits, o.Member)
		k.runs[o.Member], k.idle[e.Token.Slot] = e.Token.Slot, policy.Never
	}
	return nil
}

// newVainChecker checks that no token is passed to a member that has waited for none, for longer than that. That holds
// where nothing goes wrong, and members run for callers only.
//
//go:noinline
func newVainChecker(most time.Duration) sim.Watcher {
	type life struct {
		waits bool
		last  policy.Time
	}
	return sim.EachLife(func(me *life, _ *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.On(policy.Wanted):
			me.waits = true
		case o.On(policy.Unwanted):
			me.waits, me.last = false, o.At
		}
		for e := range o.Did(policy.Took) {
			if e.Cause == policy.CauseReceived && !me.waits && o.At.Sub(me.last) > most {
				return fmt.Errorf("vain: the token of slot %d comes to %s, which has waited for none for %v",
					e.Token.Slot, o.Who(), o.At.Sub(me.last))
			}
		}
		if o.Does(policy.Run) {
			me.waits, me.last = false, o.At
		}
		return nil
	})
}
