package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// "A run starts only if fewer members than max_down are down": nobody starts while one has failed, and the token passes
// all. When it is back, they run again.
func TestNobodyStartsWhileTooManyAreDown(t *testing.T) {
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.Backups, gate.onCall = 2, onCall
			inWorld(t, gate, func(w *world) {
				w.maxDown = downcount.Limit{Percent: 10}
				begun := time.Now()
				w.startAll()
				w.until("all have run", 5*time.Minute, func() bool { return len(w.runs(begun)) >= 5 })
				w.crash("c")
				w.until("all know", time.Minute, func() bool {
					return gateOf(t, w, "a").Members == 4 && gateOf(t, w, "e").Members == 4
				})
				time.Sleep(10 * time.Second)
				known := time.Now()
				time.Sleep(5 * time.Minute)
				if n := len(w.runs(known)); n > 0 {
					t.Errorf("%d runs", n)
				}
				const want = "too many are down (max_down = 10%, which is 1 here): c (failed)"
				if g := gateOf(t, w, "a"); g.Because != control.BecauseDown || g.NotRunning != want {
					t.Errorf("%q: %q", g.Because, g.NotRunning)
				}
				w.start("c", AloneWait)
				w.until("all run again", 5*time.Minute, func() bool { return len(w.runs(known)) >= 5 })
			})
		})
	}
}

// Fewer than max_down stop nobody.
func TestFewerThanMaxDownStopNobody(t *testing.T) {
	gate := testGate()
	gate.Backups = 2
	inWorld(t, gate, func(w *world) {
		w.maxDown = downcount.Limit{Count: 2}
		w.startAll()
		time.Sleep(5 * time.Minute)
		w.crash("c")
		time.Sleep(time.Minute)
		known := time.Now()
		w.until("they run", 3*time.Minute, func() bool { return len(w.runs(known)) >= 4 })
	})
}

// A caller waits, too, and is told why. One that does not wait is refused.
func TestACallerWaitsWhileTooManyAreDown(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	for name, is := range map[string]struct{ onCall, beside bool }{
		"a token that goes round": {}, "a token on call": {onCall: true},
		"beside a hook": {beside: true}, "a token on call, beside a hook": {onCall: true, beside: true},
	} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.onCall, gate.Backups, gate.MinInterval = is.onCall, 2, time.Hour
			if !is.beside {
				gate.Hook, gate.MinInterval = nil, 0
			}
			inWorld(t, gate, callerWaitsForTheDown)
		})
	}
}

func callerWaitsForTheDown(w *world) {
	w.maxDown = downcount.Limit{Count: 1}
	w.startAll()
	time.Sleep(5 * time.Minute)
	w.crash("c")
	time.Sleep(time.Minute)
	begun, ended := time.Now(), make(chan asked, 1)
	w.exec(context.Background(), "a", "x", ended)
	time.Sleep(5 * time.Minute)
	g := gateOf(w.t, w, "a")
	if len(w.runs(begun)) > 0 || g.Because != control.BecauseDown || !strings.HasSuffix(g.NotRunning, ": c (failed)") {
		w.t.Errorf("%d runs; %q: %q", len(w.runs(begun)), g.Because, g.NotRunning)
	}
	w.start("c", AloneWait)
	if r := <-ended; r.err != nil || r.Err != nil {
		w.t.Errorf("%+v", r)
	}
}

// A host that runs is not down for those that wait, though they keep its grant: they would leave the line with each
// run.
func TestCallersWaitInLineWhereGrantsAreKept(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.onCall, gate.Settings.Keep, gate.Backups = onCall, keeps, 2
			gate.Hook, gate.MinInterval, gate.Walk = nil, 0, wander.Sweep
			inWorld(t, gate, func(w *world) {
				w.maxDown = downcount.Limit{Count: 1}
				w.startAll()
				time.Sleep(time.Minute)
				ctx, stop := context.WithTimeout(context.Background(), time.Hour)
				defer stop()
				ended := make(chan asked, 100)
				for range 6 {
					for _, host := range w.names() {
						w.exec(ctx, host, "x", ended)
					}
				}
				for range 6 * len(w.names()) {
					if r := <-ended; r.err != nil || r.Err != nil {
						w.t.Errorf("%+v", r)
					}
				}
			})
		})
	}
}

// In a strict gate the count is of the roster.
func TestInAStrictGateTheRosterIsCounted(t *testing.T) {
	inRebootingWorldWith(t, testGate(), time.Hour, func(w *world) {
		s := w.strictly.(strict.Settings)
		s.MinInterval, s.Keep = time.Minute, 0
		w.strictly, w.maxDown = s, downcount.Limit{Count: 1}
		w.keep = time.Nanosecond
		w.restart(threeHosts()...)
		begun := time.Now()
		w.until("all run", 5*time.Minute, func() bool { return len(w.runs(begun)) >= 3 })
		w.until("nobody runs", time.Minute, func() bool {
			return read(w, func() bool { return w.agents["b"].running == 0 })
		})
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		known := time.Now()
		time.Sleep(5 * time.Minute)
		if g := w.strict("a"); len(w.runs(known)) > 0 || g.NotRunning !=
			"too many are down (max_down = 1, which is 1 here): b (not here)" {
			t.Errorf("%d runs; %q", len(w.runs(known)), g.NotRunning)
		}
		w.start("b", AloneWait)
		w.until("all run again", 5*time.Minute, func() bool { return len(w.runs(known)) >= 3 })
	})
}

// "A host that is away under a grant is down, and has not left": if it stays away, it counts for max_down when its
// grant has run out, until somebody forgets it. It is stopped by its service manager in good order.
func TestAHostThatStaysAwayIsDown(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, onCall := range map[string]bool{"sweep": false, "call": true} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.onCall, gate.Settings.Keep, gate.MinInterval, gate.Backups = onCall, keeps, time.Hour, 2
			gate.Walk = wander.Sweep
			inWorld(t, gate, func(w *world) {
				w.maxDown = downcount.Limit{Count: 1}
				for _, name := range threeHosts() {
					w.start(name, AloneWait)
				}
				lost := w.goesDown(false)
				known := time.Now()
				time.Sleep(2 * keeps)
				if n := len(w.runs(known)); n > 0 {
					t.Fatalf("%d runs while %s is away", n, lost)
				}
				at := map[bool]string{true: "b", false: "a"}[lost == "a"]
				if g := gateOf(t, w, at); !strings.HasPrefix(g.NotRunning, "too many are down") ||
					!strings.Contains(g.NotRunning, ": "+lost+" (") {
					t.Errorf("%q", g.NotRunning)
				}
				if _, err := w.forget(at, lost); err != nil {
					t.Fatal(err)
				}
				w.until("another host runs", 5*time.Minute, func() bool { return len(w.runs(known)) > 0 })
			})
		})
	}
}
