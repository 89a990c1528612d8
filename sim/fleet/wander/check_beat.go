package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
)

// BeatChecker checks that a holder keeps its guardians calm, whatever else it waits for: it beats at least twice in a patience, or asks
// them, unless it was stopped meanwhile.
type BeatChecker struct {
	patience time.Duration
	// since is when a holder last wrote to its guardians, or came back. Members without a token have no entry.
	since map[int]policy.Time
}

// NewBeatChecker returns a checker of one run in which guardians have the given patience.
func NewBeatChecker(patience time.Duration) *BeatChecker {
	return &BeatChecker{patience: patience, since: map[int]policy.Time{}}
}

// Watch implements [sim.Watcher].
func (k *BeatChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	last, holds := k.since[o.Member]
	switch {
	case o.Ends():
		delete(k.since, o.Member)
	case holds && (o.Kind == sim.Paused || o.Kind == sim.Slept):
		k.since[o.Member] = c.AwayUntil(o.Member)
	}
	if !o.Completes() {
		return nil
	}
	if silent := o.At.Sub(last); holds && silent > k.patience/2 {
		return fmt.Errorf("beat: %s holds a token, and its guardians have heard nothing for %v", sim.MemberName(o.Member), silent)
	}
	if !guarded(c, o.Member) {
		delete(k.since, o.Member)
		return nil
	}
	if !holds || writes(o) {
		k.since[o.Member] = max(o.At, last)
	}
	return nil
}

// writes reports whether a step writes to guardians.
func writes(o *sim.Occurrence) bool {
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Send && (e.Msg.Kind == guardian.KindBeat || e.Msg.Kind == guardian.KindAsk) {
			return true
		}
	}
	return false
}
