package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

// ByzantineChecker checks what one lying member can cost the others, if they ask before they run, or if its habits are
// [BoundedUnasked]: at most two of their operations run at once, and no longer than a lap in all.
type ByzantineChecker struct {
	byzantine int
	bounded   bool
	lap       time.Duration
	// running are the other members that run. most is how many ran at once. overlap is for how long two or more had run
	// at once until since.
	running map[int]bool
	most    int
	overlap time.Duration
	since   policy.Time
	// granted is the number of each member's last grant.
	granted map[int]wire.Seq
	// Ran counts the runs of the other members.
	Ran int
}

// NewByzantineChecker returns a checker of one run of a scenario.
func NewByzantineChecker(s *ByzantineScenario) *ByzantineChecker {
	return &ByzantineChecker{
		bounded: s.Scenario.AskBeforeRun || s.Byzantine.Habits&^BoundedUnasked == 0, lap: s.Scenario.lap(),
		running: map[int]bool{}, granted: map[int]wire.Seq{},
	}
}

// Exceeded reports whether more than two operations of the other members ran at once, or two for more than a lap.
func (k *ByzantineChecker) Exceeded() bool { return k.most > 2 || k.overlap > k.lap }

// Watch implements [sim.Watcher].
func (k *ByzantineChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Member == k.byzantine {
		return nil
	}
	if len(k.running) >= 2 {
		k.overlap += o.At.Sub(k.since)
	}
	k.since = o.At
	if o.EndsRun() {
		delete(k.running, o.Member)
	}
	for e := range o.Did(policy.Run) {
		if e.Token.Seq <= k.granted[o.Member] {
			return fmt.Errorf("Byzantine member: %s is granted number %d after %d", o.Who(), e.Token.Seq,
				k.granted[o.Member])
		}
		k.granted[o.Member], k.running[o.Member] = e.Token.Seq, true
		k.Ran++
	}
	k.most = max(k.most, len(k.running))
	switch {
	case !k.bounded:
	case k.most > 2:
		return fmt.Errorf("Byzantine member: %d operations at once", k.most)
	case k.overlap > k.lap:
		return fmt.Errorf("Byzantine member: it has made operations overlap for %v, more than a lap of %v", k.overlap,
			k.lap)
	}
	return nil
}

// byzantineProof returns checkers of the rules that hold even with a Byzantine member: no member holds two tokens, or
// one from nowhere; none runs twice within min_interval; and unexpected messages change nothing.
func byzantineProof(s *Scenario) []sim.Watcher {
	return []sim.Watcher{
		check.NewCustodyChecker(), check.NewMessageChecker(), check.NewWakeChecker(),
		check.NewIntervalChecker(s.MinInterval, s.RetryAfter, wander.Patience(s.Skip)/2),
	}
}
