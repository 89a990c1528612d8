package agent

import (
	"context"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/window"
)

// A world begins at midnight in UTC, on a Saturday.
func windowGate(t *testing.T, text string) soft {
	t.Helper()
	w, err := window.Parse(text, func(string) (*time.Location, error) { return time.UTC, nil })
	if err != nil {
		t.Fatal(err)
	}
	gate := testGate()
	gate.Windows = window.Set{w}
	return gate
}

func TestAHookRunsInItsWindowOnlyAndTheStatusSaysWhenThatOpens(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	inWorld(t, windowGate(t, "00:30-00:40"), func(w *world) {
		begun := time.Now()
		w.startAll()
		time.Sleep(25 * time.Minute)
		for _, name := range w.names() {
			g := gateOf(t, w, name)
			if g.NotRunning != pace.WhyClosed || g.WindowOpen || g.WindowOpens.Sub(begun) != 30*time.Minute ||
				!g.NextRun.Equal(g.WindowOpens) && !g.LastRun.IsZero() {
				t.Errorf("%s: %q, opens at %v, next run %v", name, g.NotRunning, g.WindowOpens, g.NextRun)
			}
		}
		time.Sleep(10 * time.Minute)
		for _, name := range w.names() {
			if g := gateOf(t, w, name); g.Runs == 0 || !g.WindowOpen || g.WindowCloses.Sub(begun) != 40*time.Minute {
				t.Errorf("%s has run %d times; open %v, closes at %v", name, g.Runs, g.WindowOpen, g.WindowCloses)
			}
		}
		time.Sleep(10 * time.Minute)
		for _, r := range w.runs(begun) {
			if at := r.At.Sub(begun); at < 30*time.Minute || at > 40*time.Minute {
				t.Errorf("%s runs at %v", r.Name, at)
			}
		}
	})
}

func TestAHardWindowEndsARun(t *testing.T) {
	for _, hard := range []bool{true, false} {
		gate := windowGate(t, "00:00-00:05")
		gate.hard, gate.HookTimeout, gate.MinInterval = hard, time.Hour, time.Hour
		inWorld(t, gate, func(w *world) {
			w.takes = 10 * time.Minute
			begun := time.Now()
			w.start("a", AloneRun)
			w.until("its run", 2*time.Minute, func() bool { return len(w.runs(begun)) == 1 })
			time.Sleep(12 * time.Minute)
			run := w.history("a")[0]
			if ended := run.End.Sub(begun).Round(time.Second); hard &&
				(ended != 5*time.Minute || run.Cut != history.CutTimeout) || !hard && run.Failed() {
				t.Errorf("hard %v: it ended after %v: %+v", hard, ended, run)
			}
		})
	}
}

// A run that is ordered whatever the windows say begins at once. It is the only one: neither a command of a caller nor
// another host begins, and afterwards the windows are as before.
func TestAnOrderedRunBeginsOutsideOfTheWindows(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, change := range map[string]func(*soft){
		"goes round": func(*soft) {}, "on call": func(g *soft) { g.onCall = true },
		"is asked first": func(g *soft) { g.ready = true },
	} {
		t.Run(name, func(t *testing.T) {
			gate := windowGate(t, "12:00-12:10")
			change(&gate)
			inWorld(t, gate, func(w *world) {
				begun := time.Now()
				w.start("a", AloneWait)
				w.start("b", AloneWait)
				time.Sleep(time.Minute)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				w.exec(ctx, "b", "x", make(chan asked, 1))
				time.Sleep(5 * time.Minute)
				if n := len(w.runs(begun)); n > 0 {
					t.Fatalf("%d runs before any order", n)
				}
				order := control.RunNow{OutsideWindow: true, Wait: true, User: "alice"}
				end, err := source{w.agents["b"].Agent}.RunNow(ctx, order)
				if err != nil || !end.Ended || end.Exit != 0 {
					t.Fatalf("%+v, %v", end, err)
				}
				time.Sleep(15 * time.Minute)
				runs := w.history("b")
				if len(w.runs(begun)) != 1 || len(runs) != 1 || runs[0].OutsideWindow != "alice@b" ||
					runs[0].Command != "" {
					t.Errorf("%d runs; of b: %+v", len(w.runs(begun)), runs)
				}
				if g := gateOf(t, w, "b"); g.OutsideWindow != "" || g.WindowOpen || len(g.Windows) != 1 {
					t.Errorf("afterwards: %q, open %v, %v", g.OutsideWindow, g.WindowOpen, g.Windows)
				}
			})
		})
	}
}

// While the run waits, the status names who has ordered it. A reload forgets nothing of the order.
func TestAnOrderedRunWaitsForTheTokenAndIsNamed(t *testing.T) {
	inWorld(t, windowGate(t, "00:00-00:01"), func(w *world) {
		w.takes = 30 * time.Minute
		w.gate.HookTimeout = time.Hour
		begun := time.Now()
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		first := w.untilStarts(time.Minute)
		other := "a"
		if first == other {
			other = "b"
		}
		time.Sleep(5 * time.Minute)
		go func() {
			_, _ = source{w.agents[other].Agent}.RunNow(context.Background(), control.RunNow{
				OutsideWindow: true, User: "alice",
			})
		}()
		time.Sleep(time.Minute)
		w.gate.MinInterval = 2 * time.Minute
		if r, err := w.reloads(other, func(*Config) error { return nil }); err != nil || len(r.Restart) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if g := gateOf(t, w, other); g.OutsideWindow != "alice@"+other || len(g.Windows) != 0 {
			t.Errorf("%q, %v", g.OutsideWindow, g.Windows)
		}
		w.until("it runs", time.Hour, func() bool { return len(w.runs(begun)) == 2 })
		if by := w.runs(begun)[1].Name; by != other {
			t.Errorf("%s runs", by)
		}
		time.Sleep(40 * time.Minute)
		if g := gateOf(t, w, other); len(w.runs(begun)) != 2 || g.OutsideWindow != "" || len(g.Windows) != 1 {
			t.Errorf("%d runs; %q, %v", len(w.runs(begun)), g.OutsideWindow, g.Windows)
		}
	})
}
