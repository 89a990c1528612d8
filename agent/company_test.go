package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/deep"
)

// A host that is the only one of its zone, or the only one with a gate, is not cut off: it sees the others. So it runs.
func TestAHostThatAloneHasAGateRuns(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	mine := upgrades(1)
	mine.Name = "mine"
	gates := map[string][]gate.Config{
		"a": append(zoned("x"), mine, commands("own")), "b": zoned("y"), "c": zoned("y"),
	}
	inTogetherWorld(t, gates, func(w *world) {
		w.until("a has run all, though nobody else has these gates", 5*time.Minute, func() bool {
			ran := w.ranUnder(time.Time{})
			return slices.Contains(ran, "a: upgrade upgrade@x") && slices.Contains(ran, "a: mine")
		})
		_, ended := w.called("a", "own")
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("%+v", r)
		}
		if err := w.leave("a"); err != nil {
			t.Error(err)
		}
		w.start("a", AloneWait)
		begun := time.Now()
		w.until("a runs again after a restart", 20*time.Minute, func() bool {
			ran := w.ranUnder(begun)
			return slices.Contains(ran, "a: upgrade upgrade@x") && slices.Contains(ran, "a: mine")
		})
	})
}

// A host that sees nobody at all waits, with all its gates.
func TestAHostThatSeesNobodyWaitsWithAllItsGates(t *testing.T) {
	inTogetherWorld(t, map[string][]gate.Config{"a": append(zoned("x"), commands("own"))}, func(w *world) {
		time.Sleep(20 * time.Minute)
		if ran := w.ranUnder(time.Time{}); len(ran) > 0 {
			t.Errorf("%v", ran)
		}
		if g := w.named("a", "upgrade"); g.Because != control.BecauseAlone {
			t.Errorf("%s: %s", g.Because, g.NotRunning)
		}
	})
}
