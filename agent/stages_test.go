package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/policy/strict"
)

// inStagedWorld runs a scenario with a in the first stage, b and c in the second, and d and e in the last. The hosts'
// ready checks say 75 until the scenario changes that.
func inStagedWorld(t *testing.T, onCall bool, scenario func(w *world)) {
	if !onCall {
		deep.AtNight(t, "a token that goes round for an hour of virtual time takes many seconds")
	}
	gate := testGate()
	gate.onCall, gate.ready, gate.Backups, gate.HookTimeout = onCall, true, 2, time.Hour
	inWorld(t, gate, func(w *world) {
		w.stages = stages.Config{First: []string{"a*", "[bc]"}, Wait: time.Hour}
		w.everybody(75)
		scenario(w)
	})
}

// everybody gives all hosts one answer to their ready checks.
func (w *world) everybody(exit int) {
	w.set(func() {
		for name := range w.agents {
			w.says[name] = answer{exit: exit}
		}
	})
}

// order returns who has started a run since a time.
func (w *world) order(since time.Time) string {
	var names []string
	for _, o := range w.runs(since) {
		names = append(names, o.Name)
	}
	return strings.Join(names, "")
}

// byStages reports whether an order of runs begins with a, then b and c.
func byStages(order string) bool {
	at := func(name string) int { return strings.Index(order, name) }
	for _, later := range []string{"b", "c", "d", "e"} {
		if at(later) >= 0 && (at("a") < 0 || at(later) < at("a")) {
			return false
		}
	}
	for _, last := range []string{"d", "e"} {
		if at(last) >= 0 && (at("b") < 0 || at("c") < 0 || at(last) < at("b") || at(last) < at("c")) {
			return false
		}
	}
	return true
}

// "The members of a stage run before those of the next": although all hosts need the new release from the same moment
// on, and the last ones are asked first.
func TestAReleaseGoesFromStageToStage(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			inStagedWorld(t, onCall, func(w *world) {
				w.care = aftercare.Config{Soak: 20 * time.Second}
				for _, host := range []string{"e", "d", "c", "b", "a"} {
					w.start(host, AloneWait)
					time.Sleep(time.Minute)
				}
				time.Sleep(5 * time.Minute)
				if order := w.order(time.Time{}); order != "" {
					t.Errorf("not ready, and runs: %s", order)
				}
				for range map[bool]int{false: 1, true: 2}[onCall] {
					released := time.Now()
					w.everybody(0)
					seen := map[string]bool{}
					w.until("all have run", time.Hour, func() bool {
						for _, o := range w.runs(released) {
							if !seen[o.Name] { // who has the release needs it no longer
								seen[o.Name] = true
								w.set(func() { w.says[o.Name] = answer{exit: 75} })
							}
						}
						return len(seen) == 5
					})
					if order := w.order(released); !byStages(order) || len(order) != 5 {
						t.Errorf("%s", order)
					}
					time.Sleep(3 * time.Minute)
				}
			})
		})
	}
}

// While a member of an earlier stage is due and cannot run, the others wait, and say for whom. A caller with a command
// does not wait.
func TestAMemberSaysForWhomItWaits(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	inStagedWorld(t, true, func(w *world) {
		w.startAll()
		time.Sleep(3 * time.Minute)
		w.set(func() { w.takes = 30 * time.Minute; w.says["a"] = answer{exit: 0}; w.says["d"] = answer{exit: 0} })
		if who := w.untilStarts(time.Hour); who != "a" {
			t.Fatal(who)
		}
		time.Sleep(12 * time.Minute)
		g := gateOf(t, w, "d")
		const want = "due, and waits for stage 1 (a*): a (due, or at it)"
		if g.Because != control.BecauseStage || g.NotRunning != want || g.Stage.Name != "stage 3 (the rest)" ||
			len(g.Stage.HeldBy) != 1 || g.Stage.HeldBy[0].Name != "a" {
			t.Errorf("%s %q: %+v", g.Because, g.NotRunning, g.Stage)
		}
		if s := gateOf(t, w, "a").Stage; s.Name != "stage 1 (a*)" || s.Of != 3 || s.Standing != "due, or at it" {
			t.Errorf("%+v", s)
		}
		ended := make(chan asked, 1)
		w.exec(context.Background(), "e", "x", ended)
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
}

// "A failure in a stage pauses the gate": the other member of the stage does not run any more, and once the gate is
// resumed the later stages wait until the one that has failed has succeeded.
func TestAFailureInAStagePausesTheGate(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	inStagedWorld(t, true, func(w *world) {
		w.gate.StopAfter = 3
		w.results = map[string]hook.Result{"a": failing(3)}
		w.startAll()
		time.Sleep(3 * time.Minute)
		released := time.Now()
		w.everybody(0)
		w.until("the gate is paused", time.Hour, func() bool {
			p := gateOf(t, w, "e").Paused
			return p != nil && p.By == "first@a" && p.Reason == "stage 1 (a*): a failed (exit 3)"
		})
		time.Sleep(time.Hour)
		if order := w.order(released); order != "a" {
			t.Errorf("%s", order)
		}
		w.set(func() { w.results = nil; w.says["a"] = answer{exit: 1} })
		resume(t, w, "c")
		time.Sleep(time.Hour)
		if order := w.order(released); order != "a" {
			t.Errorf("a has not succeeded: %s", order)
		}
		if g := gateOf(t, w, "c"); !strings.HasSuffix(g.NotRunning, "a (its last run has failed)") {
			t.Errorf("%q", g.NotRunning)
		}
		w.set(func() { w.says["a"] = answer{exit: 0} })
		w.until("all run", time.Hour, func() bool { return strings.Contains(w.order(released), "e") })
		if order := w.order(released); !byStages(order[1:]) {
			t.Errorf("%s", order)
		}
	})
}

// An agent that dies in a run of a stage has not seen it succeed.
func TestAnAgentThatDiesInAStagePausesTheGateWhenItIsBack(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	inStagedWorld(t, true, func(w *world) {
		w.startAll()
		time.Sleep(3 * time.Minute)
		w.set(func() { w.takes = 10 * time.Minute })
		released := time.Now()
		w.everybody(0)
		w.untilRuns(time.Hour)
		w.crash("a")
		time.Sleep(30 * time.Minute)
		if order := w.order(released); order != "a" {
			t.Errorf("a is away for less than first_wait: %s", order)
		}
		if g := gateOf(t, w, "d"); !strings.Contains(g.NotRunning, "a (due, or at it; away)") {
			t.Errorf("%q", g.NotRunning)
		}
		w.start("a", AloneWait)
		w.until("the gate is paused", 10*time.Minute, func() bool {
			p := gateOf(t, w, "e").Paused
			return p != nil && p.Reason == "stage 1 (a*): a failed (its agent has died)"
		})
	})
}

// "A member that is away for longer than first_wait holds nobody up", nor does one that was not due, or is paused.
func TestWhoIsAwayOrPausedHoldsNobodyUp(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	for name, c := range map[string]struct {
		before, after func(w *world)
		wait          time.Duration
	}{
		"away while it was due": {
			before: func(w *world) {
				w.set(func() { w.takes = 10 * time.Minute })
				w.untilRuns(time.Hour)
				w.crash("a")
				w.set(func() { w.takes = 0 })
			},
			wait: time.Hour,
		},
		"gone before": {before: func(*world) {}, after: nil},
	} {
		t.Run(name, func(t *testing.T) {
			inStagedWorld(t, true, func(w *world) {
				w.startAll()
				time.Sleep(3 * time.Minute)
				if c.wait == 0 {
					w.crash("a")
					time.Sleep(time.Minute)
				}
				released := time.Now()
				w.everybody(0)
				c.before(w)
				crashed := time.Now()
				w.until("the others run", 2*time.Hour, func() bool { return strings.Contains(w.order(crashed), "e") })
				if took := time.Since(crashed); took < c.wait || took > c.wait+30*time.Minute {
					t.Errorf("after %v", took)
				}
				if order := w.order(released); strings.Contains(order[1:], "a") || !byStages("a"+order) {
					t.Errorf("%s", order)
				}
			})
		})
	}
}

// In a strict gate, too.
func TestStagesOfAStrictGate(t *testing.T) {
	inRebootingWorldWith(t, testGate(), time.Hour, func(w *world) {
		s := w.strictly.(strict.Settings)
		s.MinInterval, s.Keep = 10*time.Minute, 0
		w.strictly, w.stages = s, stages.Config{First: []string{"c", "b"}, Wait: time.Hour}
		w.keep = time.Nanosecond
		w.restart(threeHosts()...)
		begun := time.Now()
		w.until("all run", time.Hour, func() bool { return len(w.runs(begun)) >= 9 })
		if order := w.order(begun); order[:9] != strings.Repeat("cba", 3) {
			t.Errorf("%s", order)
		}
	})
}

// resume resumes the gate from a host.
func resume(t *testing.T, w *world, host string) {
	t.Helper()
	s := source{w.agents[host].Agent}
	if err := s.GiveDirective(context.Background(), control.Directive{User: "t"}); err != nil {
		t.Fatal(err)
	}
}

// "A member that says nothing holds the others up": one whose configuration has no stages does not let a release pass.
// Once a reload has given it the same, it goes first. A reload that takes the stages away lets all run.
func TestAMemberWithoutStagesHoldsUpThoseThatHaveThem(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	inStagedWorld(t, true, func(w *world) {
		same := w.stages
		for _, host := range []string{"a", "b", "c", "d", "e"} {
			if w.stages = same; host == "a" {
				w.stages = stages.Config{}
			}
			w.start(host, AloneWait)
		}
		time.Sleep(3 * time.Minute)
		released := time.Now()
		w.set(func() {
			for _, host := range []string{"b", "c", "d", "e"} {
				w.says[host] = answer{exit: 0}
			}
		})
		time.Sleep(time.Hour)
		if order := w.order(released); order != "" {
			t.Errorf("%s", order)
		}
		if g := gateOf(t, w, "d"); !strings.Contains(g.NotRunning, "a (has not said yet whether it is due") {
			t.Errorf("%q", g.NotRunning)
		}
		reload := func(host string, of stages.Config) {
			t.Helper()
			w.stages = of
			if r, err := w.reloads(host, func(*Config) error { return nil }); err != nil || len(r.Restart) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		reload("a", same)
		w.until("b and c run, and then d and e", time.Hour, func() bool { return len(w.order(released)) >= 4 })
		if order := w.order(released); !byStages("a" + order) {
			t.Errorf("%s", order)
		}
		w.set(func() { w.takes = 40 * time.Minute; w.says["a"] = answer{exit: 0} })
		w.until("a runs", time.Hour, func() bool { return strings.HasSuffix(w.order(released), "a") })
		for _, host := range []string{"b", "c", "d", "e"} {
			reload(host, stages.Config{})
		}
		if g := gateOf(t, w, "d"); g.Stage != nil || g.Because == control.BecauseStage {
			t.Errorf("%q: %+v", g.NotRunning, g.Stage)
		}
		w.set(func() { w.takes = 0 })
	})
}

// An agent that restarts while it is due is still waited for, and one that was ordered to run waits for its stage, too.
func TestARestartOfACanaryLetsNobodyPass(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	inStagedWorld(t, true, func(w *world) {
		w.startAll()
		time.Sleep(3 * time.Minute)
		w.set(func() { w.takes = 10 * time.Minute })
		released := time.Now()
		w.everybody(0)
		if who := w.untilRuns(time.Hour); who != "a" {
			t.Fatal(who)
		}
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Minute)
		ran := make(chan error, 1)
		w.wg.Go(func() {
			end, err := source{w.agents["d"].Agent}.RunNow(context.Background(), control.RunNow{Wait: true})
			if end.Exit != 0 {
				t.Errorf("%+v", end)
			}
			ran <- err
		})
		time.Sleep(10 * time.Minute)
		if order := w.order(released); order != "a" {
			t.Errorf("%s", order)
		}
		w.set(func() { w.takes = 0 })
		w.start("a", AloneWait)
		w.until("all run", time.Hour, func() bool { return strings.Contains(w.order(released), "e") })
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if order := w.order(released)[1:]; !byStages(order) {
			t.Errorf("%s", order)
		}
	})
}
