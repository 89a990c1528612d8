package agent

import (
	"testing"
	"time"

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
	deep.Only(t, "a long time of many agents")
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
