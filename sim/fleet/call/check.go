package call

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/calendar"
)

// newOverlapChecker checks that at most one member runs at once under the tokens of a slot. That holds where nothing
// goes wrong.
//
//go:noinline
func newOverlapChecker() sim.Watcher {
	running := map[int]uint8{}
	return sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.EndsRun() {
			delete(running, o.Member)
		}
		for e := range o.Did(policy.Run) {
			for _, slot := range running {
				if slot == e.Token.Slot {
					return fmt.Errorf("overlap: %s runs, and so does another member, in slot %d", o.Who(), slot)
				}
			}
			running[o.Member] = e.Token.Slot
		}
		return nil
	})
}

// newTurnChecker checks that no member waits for longer than that: the oldest wait is served first.
func newTurnChecker(most time.Duration) sim.Watcher {
	return sim.EachLife(func(since *policy.Time, _ *sim.Cluster, o *sim.Occurrence) error {
		if o.Does(policy.Run) {
			if waited := o.At.Sub(*since); *since > 0 && waited > most {
				return fmt.Errorf("turn: all is well, and %s has waited for %v", o.Who(), waited)
			}
		}
		switch {
		case o.Does(policy.Run), o.On(policy.Unwanted):
			*since = 0
		case o.On(policy.Wanted) && *since == 0:
			*since = max(o.At, 1)
		}
		return nil
	})
}

// newWindowChecker checks that a run begins only in a window, or while a start that was granted in a window is being
// saved, startWithin at most.
func newWindowChecker(windows window.Set, startWithin time.Duration) sim.Watcher {
	hours := calendar.Of(windows)
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if !o.Does(policy.Run) {
			return nil
		}
		if wall := c.Instant(o.Member).Wall; !hours.Open(wall) && !hours.Open(wall-int64(startWithin)) {
			return fmt.Errorf("window: %s runs at %s, outside its windows", o.Who(), sim.Seconds(o.At))
		}
		return nil
	})
}

// hasHomeIn reports whether, as a member sees it, each token has a home in a core. Members that are deaf, mute or stuck
// are seen, and called: if all homes are such ones, nobody knows who waits.
func hasHomeIn(c *sim.Cluster, member int, core []bool) bool {
	var all, inside uint64
	for _, f := range c.Machine(member).Facts(c.Now(), nil) {
		if f.Key != policy.KeyHome {
			continue
		}
		all |= 1 << f.Slot
		for i, in := range core {
			if in && c.ID(i) == f.Member {
				inside |= 1 << f.Slot
			}
		}
	}
	return all == inside
}

// Meter measures how long members wait for a run, and how many datagrams are sent. It is a [sim.Watcher].
type Meter struct {
	// Sent is how many datagrams were sent, Played how many an adversary has sent, and Runs how many runs began.
	Sent, Played, Runs int
	// Waits are the times from a caller's coming to its run.
	Waits []time.Duration
	since map[int]policy.Time
}

// Watch implements [sim.Watcher].
func (m *Meter) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind == sim.Played {
		m.Played++
	}
	if o.Ends() || o.On(policy.Unwanted) {
		delete(m.since, o.Member)
	}
	if o.On(policy.Wanted) {
		if m.since == nil {
			m.since = map[int]policy.Time{}
		}
		if _, waits := m.since[o.Member]; !waits {
			m.since[o.Member] = o.At
		}
	}
	for i := range o.Effects {
		switch o.Effects[i].Kind {
		case policy.Send:
			m.Sent++
		case policy.Run:
			m.Runs++
			if since, waits := m.since[o.Member]; waits {
				m.Waits = append(m.Waits, o.At.Sub(since))
				delete(m.since, o.Member)
			}
		case policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce,
			policy.Proclaim, policy.Tell, policy.Gone:
		}
	}
	return nil
}

// Reset forgets what was measured so far.
func (m *Meter) Reset() { m.Sent, m.Played, m.Runs, m.Waits = 0, 0, 0, nil }

// Quantile returns the time that the given share of the waits do not exceed.
func (m *Meter) Quantile(share float64) time.Duration {
	if len(m.Waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.Waits))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
