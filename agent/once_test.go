package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

const interval = 6 * time.Minute

// inOnceWorld runs a scenario of three hosts, of which one runs in each interval, in each kind of gate.
func inOnceWorld(t *testing.T, scenario func(w *world)) {
	t.Run("tree", func(t *testing.T) {
		inStrictWorld(t, func(w *world) {
			w.once, w.keep = interval, time.Minute
			w.strictly = strict.Settings{
				Moves: strict.Tree, Backups: 1, Lease: 8 * time.Second, KillAfter: time.Second, Keep: time.Minute,
				Margin: 100 * time.Millisecond, Rho: 0.01, Patience: 200 * time.Millisecond, MinInterval: interval,
				RetryAfter: time.Minute, Once: true,
			}
			scenario(w)
		}, threeHosts()...)
	})
	for name, onCall := range map[string]bool{"sweep": false, "call": true} {
		t.Run(name, func(t *testing.T) {
			if !onCall {
				deep.Only(t, "runs what the gate on call runs, and takes longer")
			}
			g := testGate()
			g.onCall, g.MinInterval, g.Backups, g.Walk = onCall, interval, 2, wander.Sweep
			g.RetryAfter = time.Minute
			inWorld(t, g, func(w *world) {
				w.once = interval
				scenario(w)
			})
		})
	}
}

// startThree starts three hosts, and waits for the first run of them all.
func (w *world) startThree() (ran string) {
	w.t.Helper()
	for _, name := range threeHosts() {
		w.start(name, AloneWait)
	}
	return w.untilStarts(5 * time.Minute)
}

// "A success pauses the gate on all hosts until min_interval is over": one run in each interval, wherever.
func TestOneHostRunsInEachInterval(t *testing.T) {
	inOnceWorld(t, func(w *world) {
		ran := w.startThree()
		time.Sleep(2 * time.Minute)
		for _, name := range threeHosts() {
			g := gateOf(w.t, w, name)
			if g.Paused == nil || g.Paused.By != "once@"+ran || !strings.Contains(g.Paused.Reason, "6m") {
				w.t.Errorf("%s: %+v", name, g.Paused)
			}
		}
		time.Sleep(3 * interval)
		runs := w.runs(time.Time{})
		for i := 1; i < len(runs); i++ {
			if after := runs[i].At.Sub(runs[i-1].At); after < interval || after > interval+2*time.Minute {
				w.t.Errorf("%s runs %v after %s", runs[i].Name, after, runs[i-1].Name)
			}
		}
		if len(runs) != 4 {
			w.t.Errorf("%d runs in the first interval and three more", len(runs))
		}
	})
}

// A fleet that loses its power in the middle of an interval remembers it; so does one that loses the host that ran.
func TestAnIntervalOutlivesTheFleet(t *testing.T) {
	inOnceWorld(t, func(w *world) {
		ran := w.startThree()
		time.Sleep(time.Minute)
		for _, name := range threeHosts() {
			w.crash(name)
		}
		off := time.Now()
		for _, name := range threeHosts() {
			if name != ran {
				w.start(name, AloneWait)
			}
		}
		time.Sleep(interval / 2)
		if runs := w.runs(off); len(runs) > 0 {
			w.t.Errorf("%s runs", runs[0].Name)
		}
		if who := w.untilStarts(interval); who == ran {
			w.t.Errorf("%s runs, and is not there", who)
		}
	})
}

// "A run that fails lets the next host try", and "wanderd resume" ends the rest of an interval.
func TestAFailureLetsTheNextHostTryAndAnOperatorEndsTheRest(t *testing.T) {
	inOnceWorld(t, func(w *world) {
		w.care = aftercare.Config{
			Soak: 5 * time.Second, After: []string{"after"}, Every: time.Second, Timeout: 10 * time.Second,
		}
		w.set(func() {
			for name := range w.agents {
				w.health[name] = answer{exit: 3}
			}
		})
		first := w.startThree()
		second := w.untilStarts(2 * time.Minute)
		if second == first {
			w.t.Errorf("%s tries again, and nobody else", first)
		}
		time.Sleep(30 * time.Second)
		w.set(func() {
			for name := range w.agents {
				w.health[name] = answer{}
			}
		})
		w.untilStarts(10 * time.Minute)
		time.Sleep(time.Minute)
		if g := gateOf(w.t, w, "a"); g.Paused == nil {
			w.t.Fatal("a success pauses nothing")
		}
		w.giveDirective("b", control.Directive{})
		w.untilStarts(2 * time.Minute)
	})
}

// "A strict gate makes it exact": a host that dies in its run may have done the work, so nobody does it again in this
// interval. An operator who knows better resumes the gate.
func TestAHostThatDiesInItsRunCountsInAStrictGate(t *testing.T) {
	strictly := func(t *testing.T, scenario func(w *world, died string)) {
		inStrictWorld(t, func(w *world) {
			w.once, w.takes = interval, time.Minute
			w.strictly = strict.Settings{
				Moves: strict.Tree, Backups: 1, Lease: 8 * time.Second, KillAfter: time.Second,
				Margin: 100 * time.Millisecond, Rho: 0.01, Patience: 200 * time.Millisecond, MinInterval: interval,
				RetryAfter: time.Minute, Once: true,
			}
			died := w.startThree()
			time.Sleep(20 * time.Second)
			w.crash(died)
			scenario(w, died)
		}, threeHosts()...)
	}
	t.Run("until the interval is over", func(t *testing.T) {
		strictly(t, func(w *world, died string) {
			gone := time.Now()
			time.Sleep(interval - time.Minute)
			if runs := w.runs(gone); len(runs) > 0 {
				t.Errorf("%s runs, and %s may have", runs[0].Name, died)
			}
			for _, name := range threeHosts() {
				if name == died {
					continue
				}
				g := gateOf(t, w, name)
				if !strings.Contains(g.NotRunning, died+" has run for all in this interval, or") {
					t.Errorf("%s does not run, because %s", name, g.NotRunning)
				}
			}
			w.untilStarts(2 * time.Minute)
		})
	})
	t.Run("until an operator resumes the gate", func(t *testing.T) {
		strictly(t, func(w *world, died string) {
			time.Sleep(time.Minute)
			for _, name := range threeHosts() {
				if name != died {
					w.giveDirective(name, control.Directive{})
					break
				}
			}
			w.untilStarts(time.Minute)
		})
	})
}
