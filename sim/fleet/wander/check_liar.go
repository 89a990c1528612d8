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

// LiarChecker checks what one lying member can cost the others, if they ask before they run, or if its habits are [BoundedUnasked]: at most two operations of
// theirs run at once, and all of that takes no longer than a lap.
type LiarChecker struct {
	// liar is the member that lies, revoked says that it no longer does.
	liar    int
	revoked bool
	bounded bool
	lap     time.Duration
	running map[int]bool
	// since is when the present overlap began, overlap how long the earlier ones took together.
	since   policy.Time
	overlap time.Duration
	// most is how many operations of the others ran at once.
	most int
	// granted is the last number that each member was granted a run under.
	granted map[int]wire.Seq
	// Revived counts the revivals while it lied, Ran the runs of the others.
	Revived, Ran int
}

// NewLiarChecker returns a checker of one run of a scenario.
func NewLiarChecker(s *LiarScenario) *LiarChecker {
	return &LiarChecker{
		liar: -1, bounded: s.Scenario.AskBeforeRun || s.Liar.Habits&^BoundedUnasked == 0, lap: s.Scenario.lap(), running: map[int]bool{}, granted: map[int]wire.Seq{},
	}
}

// Exceeded reports whether more than two operations of the others ran at once, or two for more than a lap.
func (k *LiarChecker) Exceeded() bool { return k.most > 2 || k.overlap > k.lap }

// expose says who lies. It may have begun a run as the first holder.
func (k *LiarChecker) expose(liar int) {
	k.liar = liar
	delete(k.running, liar)
}

// Watch implements [sim.Watcher].
func (k *LiarChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Member == k.liar {
		return nil
	}
	before := len(k.running)
	if o.EndsRun() {
		delete(k.running, o.Member)
	}
	if o.Kind == sim.Stepped {
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Run:
				if e.Token.Seq <= k.granted[o.Member] {
					return fmt.Errorf("liar: %s is granted number %d after %d", sim.MemberName(o.Member), e.Token.Seq, k.granted[o.Member])
				}
				k.granted[o.Member] = e.Token.Seq
				k.running[o.Member] = true
				k.Ran++
			case e.Kind == policy.Tell && e.Note == wander.NoteRevived && !k.revoked:
				k.Revived++
			}
		}
	}
	now := len(k.running)
	k.most = max(k.most, now)
	switch {
	case before < 2 && now >= 2:
		k.since = o.At
	case before >= 2:
		k.overlap += o.At.Sub(k.since)
		k.since = o.At
	}
	switch {
	case !k.bounded:
	case now > 2:
		return fmt.Errorf("liar: %d operations at once", now)
	case k.overlap > k.lap:
		return fmt.Errorf("liar: it has made operations overlap for %v, more than a lap of %v", k.overlap, k.lap)
	}
	return nil
}

// liarProof are the checkers of rules that hold beside a liar, too: no member holds two tokens, or one from nowhere; none runs twice within
// min_interval; and what is not expected changes nothing.
func liarProof(s *Scenario) []sim.Watcher {
	return []sim.Watcher{
		check.NewCustodyChecker(), check.NewMessageChecker(), check.NewWakeChecker(),
		check.NewIntervalChecker(s.MinInterval, s.RetryAfter, wander.Patience(s.Skip)/2),
	}
}
