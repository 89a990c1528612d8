package plan

import (
	"encoding/json"
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// Constants are the gate's, under the names that the configuration has for them.
type Constants struct {
	Walk                                            wander.Walk
	Skip, Op, MinInterval, MaxInterval, HookTimeout time.Duration
	// DefaultMaxInterval says that MaxInterval is what an agent makes by itself, 3 × max(min_interval, members × op), and
	// follows the number of members where it is left out.
	DefaultMaxInterval bool
	// Backups is how many members guard each token.
	Backups int
	// Slots is how many tokens there are.
	Slots int
}

// MarshalJSON writes times in seconds.
func (k Constants) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Walk        string  `json:"walk"`
		Skip        float64 `json:"skip_s"`
		Op          float64 `json:"op_s"`
		MinInterval float64 `json:"min_interval_s"`
		MaxInterval float64 `json:"max_interval_s"`
		Default     bool    `json:"max_interval_is_default"`
		HookTimeout float64 `json:"hook_timeout_s"`
		Backups     int     `json:"backups"`
		Slots       int     `json:"slots"`
	}{
		k.Walk.String(), k.Skip.Seconds(), k.Op.Seconds(), k.MinInterval.Seconds(), k.MaxInterval.Seconds(), k.DefaultMaxInterval,
		k.HookTimeout.Seconds(), k.Backups, k.Slots,
	})
}

const (
	// longestWait is the greatest share of every that members may wait on average. It is a half: on a random walk every other
	// visit of the token then finds a member due. Beyond it nothing but the walk sets the pace, and the intervals of a member
	// are as irregular as the walk is.
	longestWait = 0.5
	// shortWait is the share of every that a recommended skip lets members wait, if it can, in a sweep those out of turn.
	shortWait = 0.05
)

// skips are what may be recommended. A longer skip saves nothing worth having, as only one member of a fleet sends at a
// time; and it is also how long a handoff waits for a member that is gone.
func skips() []time.Duration {
	return []time.Duration{
		10 * time.Second, 5 * time.Second, 2 * time.Second, time.Second,
		500 * time.Millisecond, 250 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond,
	}
}

// recommend chooses a gate's constants. fits says that load and walk leave every member the time to run every Every on
// average; otherwise min_interval is every itself, so that at least nobody runs more often.
func recommend(w *Wish) (k Constants, fits bool) {
	k = Constants{Walk: w.Walk, Op: w.Op, Skip: w.Skip, MinInterval: w.Every, Backups: w.Backups, Slots: w.slots()}
	if k.Skip == 0 {
		k.Skip = recommendSkip(w)
	}
	fits = feasible(w, k.Skip)
	if wait := waits(w, k.Skip); fits && wait > 0 {
		k.MinInterval = max(roundDown(w.Every-seconds(wait)), w.Op)
	}
	k.HookTimeout = min(max(3*w.Op, 30*time.Second), k.MinInterval)
	k.MaxInterval, k.DefaultMaxInterval = recommendMaxInterval(w, &k)
	return k, fits
}

// recommendSkip returns the longest skip with which a wait is short, or the shortest there is. Below the time that a handoff
// takes, a skip has no effect on the pace. In a sweep whose rows of runs are long it is no longer than op either: a lap in which
// nobody runs then takes no longer than one in which all do, and the token is back when the first of them is due again.
func recommendSkip(w *Wish) time.Duration {
	every := w.Every.Seconds()
	shortest := skips()[0]
	for _, skip := range skips() {
		if skip < handoffTime(w.latency()) {
			break
		}
		shortest = skip
		if w.Walk == wander.Sweep && skip > w.Op && float64(w.Members)/float64(w.slots())*w.Op.Seconds() > shortWait*every {
			continue
		}
		if t := newTheory(w, w.Members, skip); t.straying(t.load(every)) <= shortWait*every && feasible(w, skip) {
			break
		}
	}
	return shortest
}

// feasible reports whether every member can run every Every on average, and somewhat regularly. Where several run at once, a run
// may take most of every, and so there is less time to wait: min_interval is no shorter than op.
func feasible(w *Wish, skip time.Duration) bool {
	most := min(longestWait*w.Every.Seconds(), (w.Every - w.Op).Seconds())
	return w.Members >= minMembers && waits(w, skip) <= most
}

// waits is how many seconds members wait if all run every Every; infinite if they cannot.
func waits(w *Wish, skip time.Duration) float64 {
	t := newTheory(w, w.Members, skip)
	return t.wait(t.heaviest(w.Every.Seconds()))
}

// recommendMaxInterval is the default rule, "3 × min_interval, and never below 3 × members × op", unless that would be too
// short for the walk. Where the token has guardians a member that takes it for lost asks others first, and a silence that is
// its own alone is no alarm.
func recommendMaxInterval(w *Wish, k *Constants) (d time.Duration, isDefault bool) {
	byRule := defaultMaxInterval(w.Members, k)
	if quiet := quietInterval(w, k); quiet > byRule && k.Backups == 0 {
		return quiet, false
	}
	return byRule, true
}

// defaultMaxInterval is what machines make of it themselves.
func defaultMaxInterval(members int, k *Constants) time.Duration {
	s := wandering.Scenario{Members: members, Op: k.Op, MinInterval: k.MinInterval}
	return s.MaxIntervalInForce()
}

// quietInterval is the max_interval with which the walk alone, which now and then leaves a member out for long, makes a
// member take the token for lost no more than about once in Every.
func quietInterval(w *Wish, k *Constants) time.Duration {
	t := newTheory(w, w.Members, k.Skip)
	return roundUp(seconds(t.silence(t.busy(k.MinInterval.Seconds()), w.Every.Seconds())))
}

// seconds turns a number of seconds into a duration, held at the end of the range.
func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
