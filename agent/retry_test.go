package agent

import (
	"errors"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/pace"
)

// exits makes all hooks end with that exit status.
func (w *world) exits(status int) {
	w.set(func() {
		w.result = hook.Result{Exit: status}
		if status != 0 {
			w.result.Err = errors.New("exit status")
		}
	})
}

func retryGate() soft {
	gate := testGate()
	gate.MinInterval, gate.RetryAfter = time.Hour, 10*time.Minute
	return gate
}

func TestAFailedHookRunsAgainAfterRetryAfterAndAfterARestartToo(t *testing.T) {
	inWorld(t, retryGate(), func(w *world) {
		w.exits(1)
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the first run", time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		time.Sleep(2 * w.gate.Op)
		g := gateOf(t, w, "a")
		if g.Failures != 1 || g.Results["failed"] != 1 || g.NotRunning != pace.WhyFailed ||
			g.NextRun.Sub(g.LastRun).Round(time.Second) != w.gate.Op+10*time.Minute {
			t.Errorf("after a failure: %+v", g)
		}
		w.until("the repetition", 11*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		time.Sleep(2 * w.gate.Op)
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		w.start("a", AloneRun)
		time.Sleep(time.Minute)
		if g := gateOf(t, w, "a"); g.NotRunning != pace.WhyFailed || g.NextRun.Sub(g.LastRun).
			Round(time.Second) != w.gate.Op+20*time.Minute {
			t.Errorf("after a second failure and a restart: %+v", g)
		}
		w.exits(0)
		w.until("the second repetition", 20*time.Minute, func() bool { return len(w.runs(begun)) == 3 })
		time.Sleep(2 * w.gate.Op)
		if g := gateOf(t, w, "a"); g.NotRunning != pace.WhyTooSoon || g.NextRun.Sub(g.LastRun).
			Round(time.Second) != time.Hour {
			t.Errorf("after a success: %+v", g)
		}
	})
}

func TestAHookThatExitsWith75IsAskedAgainAndHasNotFailed(t *testing.T) {
	inWorld(t, retryGate(), func(w *world) {
		w.exits(75)
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the third run", 21*time.Minute, func() bool { return len(w.runs(begun)) == 3 })
		time.Sleep(2 * w.gate.Op)
		g, runs := gateOf(t, w, "a"), w.history("a")
		if g.Failures != 0 || g.Results["not_now"] != 3 || g.NotRunning != pace.WhyNotNow || !g.LastSuccess.IsZero() {
			t.Errorf("%+v", g)
		}
		if last := runs[len(runs)-1]; last.Exit != 75 || last.Failed() {
			t.Errorf("the history says %+v", last)
		}
	})
}
