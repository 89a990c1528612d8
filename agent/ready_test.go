package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/strict"
)

// answer is the answer of a host's ready check, and how long it takes.
type answer struct {
	exit  int
	takes time.Duration
}

// answer pretends to run a host's ready check.
func (w *world) answer(r *resident, spec hook.Spec) gate.HookRun {
	p := &pretendRun{stop: make(chan struct{}), orphaned: make(chan struct{}), done: make(chan hook.Result, 1)}
	var says answer
	w.set(func() {
		if spec.For == "after" {
			says = w.health[r.cfg.Name]
			return
		}
		says = w.says[r.cfg.Name]
		w.asked[r.cfg.Name] = append(w.asked[r.cfg.Name], time.Now())
	})
	w.wg.Go(func() {
		res := hook.Result{Exit: says.exit}
		if says.exit != 0 {
			res.Err, res.Tail = fmt.Errorf("exit status %d", says.exit), []string{"the lists", "are broken"}
		}
		select {
		case <-time.After(says.takes):
		case <-time.After(spec.Timeout):
			res = hook.Result{Exit: -1, TimedOut: true, Err: fmt.Errorf("timed out: %s", spec.Argv[0])}
		case <-p.stop:
			res = hook.Result{Exit: -1, Stopped: true, Err: fmt.Errorf("stopped: %s", spec.Argv[0])}
		}
		p.done <- res
	})
	return p
}

// readyGate is a gate with a ready check, which runs half a minute before a host is due, and ten minutes after an
// answer.
func readyGate() soft {
	gate := testGate()
	gate.MinInterval, gate.ready = time.Hour, true
	return gate
}

func (w *world) saysOf(name string, a answer) { w.set(func() { w.says[name] = a }) }

func (w *world) askedOf(name string) []time.Time {
	return read(w, func() []time.Time { return w.asked[name] })
}

func TestAHookRunsAfterAYesOnlyAndIsAskedBeforeItIsDue(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		begun := time.Now()
		w.saysOf("a", answer{takes: 5 * time.Second})
		w.start("a", AloneRun)
		time.Sleep(4 * time.Second)
		if g := gateOf(t, w, "a"); g.Because != control.BecauseNotReady || g.Ready.AskingSince.IsZero() || g.Runs != 0 {
			t.Errorf("while it is asked: %q, %+v", g.NotRunning, g.Ready)
		}
		w.until("the first run", time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		w.until("the second run", 61*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		runs, asked := w.runs(begun), w.askedOf("a")
		if len(asked) != 2 || runs[1].At.Sub(asked[1]).Round(time.Second) != 30*time.Second {
			t.Errorf("asked at %v, run at %v", asked, runs)
		}
		if after := runs[1].At.Sub(runs[0].At).Round(time.Second); after != time.Hour {
			t.Errorf("the second run comes %v after the first", after)
		}
		if g := gateOf(t, w, "a"); g.Ready.Answers["yes"] != 2 {
			t.Errorf("%+v", g.Ready)
		}
	})
}

func TestAHostThatNeedsNothingLetsTheTokenPassAndIsAskedAgain(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	inWorld(t, readyGate(), func(w *world) {
		begun := time.Now()
		for _, name := range w.names() {
			w.saysOf(name, answer{exit: 75})
		}
		w.saysOf("b", answer{})
		w.startAll()
		time.Sleep(5 * time.Minute)
		if runs := w.runs(begun); len(runs) != 1 || runs[0].Name != "b" {
			t.Fatalf("%+v", runs)
		}
		g := gateOf(t, w, "a")
		if g.Because != control.BecauseNotReady || g.NotRunning != "ready said 75: not needed now" ||
			g.Ready.Answer != control.AnswerNo || g.Ready.Counts {
			t.Errorf("%q because of %q: %+v", g.NotRunning, g.Because, g.Ready)
		}
		w.saysOf("a", answer{})
		w.until("a runs after its next answer", 6*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		if asked := w.askedOf("a"); len(asked) != 2 || asked[1].Sub(asked[0]).Round(time.Second) != 10*time.Minute {
			t.Errorf("a was asked at %v", asked)
		}
		if h := w.history("c"); len(h) != 0 {
			t.Errorf("a no is in the history: %+v", h)
		}
	})
}

func TestInAStrictGateTheTokenGoesOnWhereTheHostSaysNo(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	for name, protocol := range strictGates() {
		t.Run(name, func(t *testing.T) {
			inStrictWorld(t, func(w *world) {
				settings := protocol.(strict.Settings)
				settings.MinInterval = time.Hour
				w.strictly, w.gate.ready, w.gate.HookTimeout = settings, true, time.Minute
				begun := time.Now()
				w.saysOf("b", answer{exit: 75})
				for _, name := range trio() {
					w.start(name, AloneWait)
				}
				w.until("the others run", 5*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
				time.Sleep(5 * time.Minute)
				g := w.strict("b")
				if len(w.runs(begun)) != 2 || g.Because != control.BecauseNotReady ||
					g.NotRunning != "ready said 75: not needed now" || g.Ready.Answers["no"] != 1 {
					t.Errorf("%d runs; %q because of %q: %+v", len(w.runs(begun)), g.NotRunning, g.Because, g.Ready)
				}
				w.saysOf("b", answer{})
				w.until("b runs after its next answer", 6*time.Minute, func() bool { return len(w.runs(begun)) == 3 })
			}, trio()...)
		})
	}
}

func TestTheMetricsCountWhatAHostHasSaid(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("it has run", 5*time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		w.saysOf("a", answer{exit: 75})
		time.Sleep(75 * time.Minute)
		text := w.scrape("a")
		for _, want := range []string{
			`wanderd_ready_total{answer="yes",gate="default"} 1`, `wanderd_ready_total{answer="no",gate="default"} 2`,
			`wanderd_ready_total{answer="error",gate="default"} 0`, `wanderd_ready{gate="default"} 0`,
		} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("no line %q in\n%s", want, text)
			}
		}
	})
}

func TestAQuestionThatFailsOrHangsIsAnErrorAndNothingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		says answer
		why  string
	}{
		"fails": {answer{exit: 3}, "exit status 3: are broken"},
		"hangs": {answer{takes: time.Hour}, "timed out: ask"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, readyGate(), func(w *world) {
				begun := time.Now()
				w.saysOf("a", c.says)
				w.start("a", AloneRun)
				time.Sleep(15 * time.Minute)
				g := gateOf(t, w, "a")
				if len(w.runs(begun)) != 0 || g.Ready.Answers["error"] != 2 ||
					g.NotRunning != "ready has failed: "+c.why || g.Failures != 0 {
					t.Errorf("%d runs, %q: %+v", len(w.runs(begun)), g.NotRunning, g.Ready)
				}
				if name == "hangs" {
					return
				}
				w.saysOf("a", answer{})
				w.until("a yes", 10*time.Minute, func() bool { return len(w.runs(begun)) == 1 })
			})
		})
	}
}

func TestARunByHandIsRefusedWhereTheReadyCheckSaysNo(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the first run", time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		time.Sleep(time.Minute)
		for _, c := range []struct {
			says answer
			exit int
			why  string
		}{
			{answer{exit: 75}, 75, "ready said 75: not needed now"},
			{answer{exit: 2}, 2, "ready has failed: "},
			{answer{takes: time.Minute}, 124, "ready has failed: "},
		} {
			w.saysOf("a", c.says)
			for _, wait := range []bool{true, false} {
				end, err := source{w.agents["a"].Agent}.RunNow(context.Background(), control.RunNow{Wait: wait})
				if err != nil || !end.Unready || end.Exit != c.exit || !strings.HasPrefix(end.Error, c.why) {
					t.Errorf("%+v: %+v, %v", c.says, end, err)
				}
			}
		}
		w.saysOf("a", answer{takes: time.Second})
		end, err := source{w.agents["a"].Agent}.RunNow(context.Background(), control.RunNow{Wait: true})
		if err != nil || end.Unready || !end.Ended || end.Exit != 0 || len(w.runs(begun)) != 2 {
			t.Errorf("after a yes: %+v, %v", end, err)
		}
	})
}

func TestACommandIsServedWhereTheHookIsNotNeeded(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		w.saysOf("a", answer{exit: 75})
		w.start("a", AloneRun)
		time.Sleep(time.Minute)
		ended := make(chan asked, 1)
		w.exec(context.Background(), "a", "x", ended)
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("%+v", r)
		}
		if g := gateOf(t, w, "a"); g.Ready.Answer != control.AnswerNo || g.CommandResults["ok"] != 1 {
			t.Errorf("%+v: %v", g.Ready, g.CommandResults)
		}
	})
}

func TestAReloadAsksTheNewReadyCheckAndForgetsTheOldAnswer(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		begun := time.Now()
		w.saysOf("a", answer{exit: 75})
		w.start("a", AloneRun)
		time.Sleep(time.Minute)
		w.saysOf("a", answer{})
		if _, err := w.reloads("a", func(c *Config) error {
			c.Gates[0].Ready = []string{"ask", "otherwise"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.until("the run after the new question's yes", time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		time.Sleep(time.Minute)
		w.saysOf("a", answer{exit: 75})
		time.Sleep(time.Hour)
		if n := len(w.runs(begun)); n != 1 {
			t.Fatalf("%d runs after a no", n)
		}
		if _, err := w.reloads("a", func(c *Config) error { c.Gates[0].Ready = nil; return nil }); err != nil {
			t.Fatal(err)
		}
		w.until("the run without a question", time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		if g := gateOf(t, w, "a"); g.Ready != nil {
			t.Errorf("%+v", g.Ready)
		}
	})
}

func TestAStopWaitsForNoAnswer(t *testing.T) {
	inWorld(t, readyGate(), func(w *world) {
		w.saysOf("a", answer{takes: time.Hour})
		w.start("a", AloneRun)
		time.Sleep(time.Second)
		begun := time.Now()
		if err := w.leave("a"); err != nil || time.Since(begun) > 5*time.Second {
			t.Errorf("it leaves after %v: %v", time.Since(begun), err)
		}
	})
}
