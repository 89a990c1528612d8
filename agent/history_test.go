package agent

import (
	"context"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/history"
)

// history asks an agent for the runs of its gate.
func (w *world) history(name string) []history.Run {
	h, err := source{w.agents[name].Agent}.History(context.Background())
	if err != nil || len(h.Gates) != 1 {
		w.t.Fatalf("%+v, %v", h, err)
	}
	return h.Gates[0].Runs
}

// After an agent was killed, its host still knows what it has run, and that it did not see the end of the last run.
func TestTheHistorySurvivesAKill(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the second run", 5*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		time.Sleep(w.gate.Op / 2)
		runs := w.history("a")
		if len(runs) != 2 || runs[0].Failed() || runs[0].Took() != w.gate.Op || runs[0].Exit != 0 ||
			!runs[1].Running() || runs[1].Seq <= runs[0].Seq {
			t.Errorf("before the kill: %+v", runs)
		}
		w.crash("a")
		time.Sleep(time.Second) // its guard ends the run
		w.start("a", AloneRun)
		runs = w.history("a")
		if len(runs) != 2 || runs[0].Failed() || runs[1].Cut != history.CutAgent {
			t.Errorf("after the kill: %+v", runs)
		}
	})
}

// The history of a run names the timeout, or the stop, that has ended it.
func TestTheHistoryHasTheCauseOfARunCutShort(t *testing.T) {
	gate := testGate()
	gate.HookTimeout = gate.Op / 2
	inWorld(t, gate, func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the second run", 5*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		time.Sleep(time.Second) // It is seen when it is granted, and starts at that moment.
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		w.start("a", AloneRun)
		runs := w.history("a")
		if len(runs) != 2 || runs[0].Cut != history.CutTimeout || runs[0].Error == "" ||
			runs[1].Cut != history.CutStopped {
			t.Errorf("%+v", runs)
		}
	})
}
