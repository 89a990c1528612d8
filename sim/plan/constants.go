package plan

import (
	"encoding/json"
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// Constants are the settings of the gate, under their names in the configuration.
type Constants struct {
	Walk                                            wander.Walk
	Skip, Op, MinInterval, MaxInterval, HookTimeout time.Duration
	// DefaultMaxInterval is true if MaxInterval is the agent's default, 3 × max(min_interval, members × op). If it is
	// left out of the configuration, it follows the number of members.
	DefaultMaxInterval bool
	// Backups is the number of guardians of each token.
	Backups int
	// Slots is the number of tokens: as a share of the members, SlotsShare, if that is not zero.
	Slots, SlotsShare int
	// Keep is how long the others wait for a host that reboots; zero if none does.
	Keep time.Duration
	// Soak is how long a host is looked after once it has run; MaxDown is how many may be down when one starts.
	Soak    time.Duration
	MaxDown int
	// PerZone is how many of one zone may run at once; 0 is no limit.
	PerZone int
	// Windows are when members may run; none means always.
	Windows window.Set
}

// MarshalJSON writes times in seconds.
func (k Constants) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Walk        string   `json:"walk"`
		Skip        float64  `json:"skip_s"`
		Op          float64  `json:"op_s"`
		MinInterval float64  `json:"min_interval_s"`
		MaxInterval float64  `json:"max_interval_s"`
		Default     bool     `json:"max_interval_is_default"`
		HookTimeout float64  `json:"hook_timeout_s"`
		Backups     int      `json:"backups"`
		Slots       int      `json:"slots"`
		Windows     []string `json:"windows,omitempty"`
		Keep        float64  `json:"keep_s,omitempty"`
		Soak        float64  `json:"soak_s,omitempty"`
		MaxDown     int      `json:"max_down,omitempty"`
		PerZone     int      `json:"per_zone,omitempty"`
	}{
		k.Walk.String(), k.Skip.Seconds(), k.Op.Seconds(), k.MinInterval.Seconds(), k.MaxInterval.Seconds(),
		k.DefaultMaxInterval,
		k.HookTimeout.Seconds(), k.Backups, k.Slots, texts(k.Windows), k.Keep.Seconds(), k.Soak.Seconds(), k.MaxDown,
		k.PerZone,
	})
}

const (
	// longestWait is the greatest mean wait, as a share of every. With a half, every other visit of a random walk finds
	// a member due. Beyond that, the walk alone sets the pace, and intervals are as irregular as the walk.
	longestWait = 0.5
	// shortWait is the mean wait at which a recommended skip aims, as a share of every; in a sweep, the mean wait of
	// members out of turn.
	shortWait = 0.05
)

// skips returns the values that may be recommended. A longer skip saves little, because only one member sends at a
// time, and a handoff would wait longer for a member that is gone.
func skips() []time.Duration {
	return []time.Duration{
		10 * time.Second, 5 * time.Second, 2 * time.Second, time.Second,
		500 * time.Millisecond, 250 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond,
	}
}

// recommend chooses a gate's constants. fits reports whether every member can run every Every on average; if not,
// min_interval is every, so that at least no member runs more often.
func recommend(w *Request) (k Constants, fits bool) {
	k = Constants{
		Walk: w.Walk, Op: w.Op, Skip: w.Skip, MinInterval: w.Every, Backups: w.Backups, Slots: w.slots(),
		SlotsShare: w.SlotsShare,
		Windows:    w.Windows, Keep: w.keep(), Soak: w.Soak, MaxDown: w.MaxDown, PerZone: w.PerZone,
	}
	if k.Skip == 0 {
		k.Skip = recommendSkip(w)
	}
	fits = feasible(w, k.Skip)
	if wait := waits(w, k.Skip); fits && wait > 0 {
		k.MinInterval = max(roundDown(w.Every-seconds(wait)), w.Op)
	}
	if due := dueEachNight(w.Windows); due > w.Op && w.Every > due {
		k.MinInterval = min(k.MinInterval, due)
	}
	k.HookTimeout = min(max(3*(w.Op-w.Soak), 30*time.Second), k.MinInterval)
	k.MaxInterval, k.DefaultMaxInterval = recommendMaxInterval(w, &k)
	return k, fits
}

// recommendSkip returns the longest skip that keeps waits short, or the shortest one. A skip below the time of a
// handoff has no effect on the pace. In a sweep with long rows of runs it is at most op: a lap without runs then takes
// no longer than a lap of runs, and the token is back when the first member is due again.
func recommendSkip(w *Request) time.Duration {
	every := w.Every.Seconds()
	shortest := skips()[0]
	for _, skip := range skips() {
		if skip < handoffTime(w.latency()) {
			break
		}
		shortest = skip
		if w.Walk == wander.Sweep && skip > w.Op &&
			float64(w.Members)/float64(w.slots())*w.Op.Seconds() > shortWait*every {
			continue
		}
		if t := newTheory(w, w.Members, skip); t.straying(t.load(every)) <= shortWait*every && feasible(w, skip) {
			break
		}
	}
	return shortest
}

// feasible reports whether every member can run every Every on average, and somewhat regularly. With several slots, a
// run may take most of every; that leaves less time to wait, because min_interval is at least op.
func feasible(w *Request, skip time.Duration) bool {
	most := min(longestWait*w.Every.Seconds(), (w.Every - w.Op).Seconds())
	return w.Members >= minMembers && waits(w, skip) <= most
}

// waits returns the mean wait in seconds if all members run every Every. It is infinite if they cannot.
func waits(w *Request, skip time.Duration) float64 {
	t := newTheory(w, w.Members, skip)
	return t.wait(t.heaviest(w.Every.Seconds()))
}

// recommendMaxInterval returns the default rule, "3 × min_interval, and never below 3 × members × op", unless that is
// too short for the walk. With guardians a member asks others before it makes a token, so a long wait of one member
// alone does no harm.
func recommendMaxInterval(w *Request, k *Constants) (d time.Duration, isDefault bool) {
	byRule := defaultMaxInterval(w.Members, k)
	if quiet := quietInterval(w, k); quiet > byRule && k.Backups == 0 {
		return quiet, false
	}
	return byRule, true
}

// defaultMaxInterval returns the machines' own default.
func defaultMaxInterval(members int, k *Constants) time.Duration {
	s := wandering.Scenario{Members: members, Op: k.Op, MinInterval: k.MinInterval}
	return s.MaxIntervalInForce()
}

// quietInterval returns a max_interval with which the walk alone, without any loss, makes some member believe about
// once in Every at most that the token is lost.
func quietInterval(w *Request, k *Constants) time.Duration {
	t := newTheory(w, w.Members, k.Skip)
	return roundUp(seconds(t.silence(t.busy(k.MinInterval.Seconds()), w.Every.Seconds())))
}

// seconds turns a number of seconds into a duration. If it is too large, it returns the longest duration.
func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
