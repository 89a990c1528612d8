package agent

import (
	"context"
	"errors"
	"flag"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/directive"
)

var pauses = flag.Int("pauses", 5, "how often ten agents are paused, for the distribution of the times")

func (w *world) giveDirective(name string, o control.Directive) {
	w.t.Helper()
	o.User = "alice"
	if err := (source{w.agents[name].Agent}).GiveDirective(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pause(name string, lasts time.Duration) {
	w.t.Helper()
	w.giveDirective(name, control.Directive{Pause: true, For: control.Duration(lasts), Reason: "ticket 4711"})
}

// obeys reports whether an agent is paused.
func (w *world) obeys(name string) bool {
	return gateOf(w.t, w, name).Paused != nil
}

// allObey returns how long it takes until all agents that are up are paused, or not.
func (w *world) allObey(paused bool) time.Duration {
	w.t.Helper()
	begun := time.Now()
	w.until("the directive is in force everywhere", time.Minute, func() bool {
		return !slices.ContainsFunc(w.names(), func(name string) bool {
			return w.agents[name].stop != nil && w.obeys(name) != paused
		})
	})
	return time.Since(begun)
}

func TestAPausedFleetRunsNothingUntilItIsResumed(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(30 * time.Second)
		w.pause("a", 0)
		w.allObey(true)
		w.until("the runs that had begun have ended", time.Minute, func() bool {
			return !slices.ContainsFunc(w.names(), func(name string) bool { return gateOf(t, w, name).Running })
		})
		begun := time.Now()
		time.Sleep(10 * time.Minute)
		if n := len(w.runs(begun)); n > 0 {
			t.Errorf("%d runs in a paused gate", n)
		}
		for _, name := range w.names() {
			g := gateOf(t, w, name)
			if p := g.Paused; p == nil || p.By != "alice@a" || p.Reason != "ticket 4711" || !p.Until.IsZero() ||
				time.Since(p.Since) < 10*time.Minute {
				t.Errorf("%s shows %+v", name, p)
			}
			if g.NotRunning != directive.WhyPaused || !g.NextRun.IsZero() {
				t.Errorf("%s does not run because it is %q, and is due at %v", name, g.NotRunning, g.NextRun)
			}
		}
		w.giveDirective("c", control.Directive{})
		w.allObey(false)
		w.until("runs", time.Minute, func() bool { return len(w.runs(begun)) > 0 })
	})
}

func TestAPauseEndsByItselfOnAllHosts(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(30 * time.Second)
		w.pause("b", 5*time.Minute)
		w.allObey(true)
		begun := time.Now()
		if took := 5*time.Minute - time.Minute; len(w.runs(begun.Add(time.Minute))) > 0 || w.allObey(true) > took {
			t.Error("it ended early")
		}
		time.Sleep(5 * time.Minute)
		w.allObey(false)
		if len(w.runs(begun.Add(time.Minute))) == 0 {
			w.until("runs", time.Minute, func() bool { return len(w.runs(begun.Add(time.Minute))) > 0 })
		}
	})
}

func TestAHostThatWasAwayLearnsOfThePauseBeforeItRuns(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(30 * time.Second)
		if err := w.leave("e"); err != nil {
			t.Fatal(err)
		}
		w.pause("a", 0)
		w.allObey(true)
		w.until("the gate is quiet", time.Minute, func() bool {
			return !gateOf(t, w, "b").Running && !gateOf(t, w, "c").Running
		})
		time.Sleep(time.Hour)
		begun := time.Now()
		w.start("e", AloneWait)
		w.allObey(true)
		time.Sleep(10 * time.Minute)
		if n := len(w.runs(begun)); n > 0 {
			t.Errorf("%d runs", n)
		}
		if p := gateOf(t, w, "e").Paused; p == nil || p.By != "alice@a" || p.Reason != "ticket 4711" {
			t.Errorf("it shows %+v", p)
		}
	})
}

func TestAPauseSurvivesTheRestartOfAllHosts(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(30 * time.Second)
		w.pause("a", 0)
		w.allObey(true)
		w.giveDirective("b", control.Directive{Pause: true, Here: true, Reason: "disk"})
		for _, name := range w.names() {
			if err := w.leave(name); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		w.startAll()
		time.Sleep(10 * time.Minute)
		if n := len(w.runs(begun)); n > 0 {
			t.Errorf("%d runs", n)
		}
		for _, name := range w.names() {
			if p := gateOf(t, w, name).Paused; p == nil || p.By != "alice@a" || p.Reason != "ticket 4711" {
				t.Errorf("%s shows %+v", name, p)
			}
		}
		if p := gateOf(t, w, "b").PausedHere; p == nil || p.By != "alice@b" || p.Reason != "disk" {
			t.Errorf("b shows %+v of its own", p)
		}
	})
}

func TestAPauseOfOneHostIsNobodyElses(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(30 * time.Second)
		w.giveDirective("b", control.Directive{
			Pause: true, Here: true, Reason: "repair", For: control.Duration(time.Hour),
		})
		time.Sleep(30 * time.Second)
		begun := time.Now()
		time.Sleep(10 * time.Minute)
		ran := map[string]bool{}
		for _, o := range w.runs(begun) {
			ran[o.Name] = true
		}
		if len(ran) != 4 || ran["b"] {
			t.Errorf("%v have run", ran)
		}
		skips := func(name string) (found []history.Skip) {
			for _, r := range w.history(name) {
				if r.Skip != nil {
					found = append(found, *r.Skip)
				}
			}
			return found
		}
		if s := skips("b"); len(s) != 1 || s[0].By != "alice@b" || s[0].Reason != "repair" || !s[0].Until.After(begun) {
			t.Errorf("its history has %+v", s)
		}
		if s := skips("a"); len(s) != 0 {
			t.Errorf("the history of another host has %+v", s)
		}
		w.giveDirective("b", control.Directive{Here: true})
		time.Sleep(10 * time.Minute)
		if past := w.history("b"); past[len(past)-1].Skip != nil || past[len(past)-1].Failed() {
			t.Errorf("it runs again, and its history ends with %+v", past[len(past)-1])
		}
	})
}

func failing(status int) hook.Result {
	return hook.Result{Exit: status, Err: errors.New("exit status")}
}

func TestTheBrakeStopsABadReleaseAfterThreeHosts(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	gate := testGate()
	gate.StopAfter = 3
	inWorld(t, gate, func(w *world) {
		w.result = failing(3)
		begun := time.Now()
		w.startAll()
		time.Sleep(10 * time.Minute)
		if runs := w.runs(begun); len(runs) != 3 {
			t.Errorf("%d runs", len(runs))
		}
		p := gateOf(t, w, "a").Paused
		if p == nil || !strings.HasPrefix(p.By, "stop_after@") ||
			!strings.HasPrefix(p.Reason, "3 hosts failed in a row: ") ||
			strings.Count(p.Reason, "(exit 3)") != 3 {
			t.Fatalf("%+v", p)
		}
		w.set(func() { w.result = hook.Result{} })
		w.giveDirective("d", control.Directive{})
		w.allObey(false)
		w.until("all run", 5*time.Minute, func() bool { return len(w.runs(begun)) >= 8 })
		if g := gateOf(t, w, "a"); g.Paused != nil || len(g.Failing) > 0 {
			t.Errorf("%+v, %+v", g.Paused, g.Failing)
		}
	})
}

func TestTheBrakeCountsRunsThatFailByHand(t *testing.T) {
	gate := testGate()
	gate.StopAfter, gate.MinInterval = 3, 24*time.Hour
	inWorld(t, gate, func(w *world) {
		w.startAll()
		w.until("all have run", 5*time.Minute, func() bool { return len(w.runs(time.Time{})) == 5 })
		due := gateOf(t, w, "c").NextRun
		w.set(func() { w.result = failing(7) })
		for _, name := range []string{"c", "c", "d", "e"} {
			if p := gateOf(t, w, "c").Paused; p != nil {
				t.Fatalf("paused before %s: %+v", name, p)
			}
			if end, err := (source{w.agents[name].Agent}).
				RunNow(context.Background(), control.RunNow{Wait: true}); err != nil || end.Exit != 7 {
				t.Fatalf("%+v, %v", end, err)
			}
			time.Sleep(time.Minute)
		}
		p := gateOf(t, w, "a").Paused
		if p == nil || strings.Count(p.Reason, "(exit 7)") != 3 {
			t.Fatalf("%+v", p)
		}
		if g := gateOf(t, w, "c"); !g.NextRun.Equal(due) && !g.NextRun.IsZero() {
			t.Errorf("c is due at %v instead of %v", g.NextRun, due)
		}
	})
}

func TestOneBadHostStopsNobody(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	gate := testGate()
	gate.StopAfter = 3
	inWorld(t, gate, func(w *world) {
		w.results = map[string]hook.Result{"c": failing(1)}
		begun := time.Now()
		w.startAll()
		time.Sleep(10 * time.Minute)
		failed := 0
		for _, o := range w.runs(begun) {
			if o.Name == "c" {
				failed++
			}
		}
		if failed < 3 || gateOf(t, w, "a").Paused != nil {
			t.Errorf("after %d failures of one host: %+v", failed, gateOf(t, w, "a").Paused)
		}
	})
}

func TestRunNowDoesNotWaitForMinInterval(t *testing.T) {
	gate := testGate()
	gate.MinInterval = 24 * time.Hour
	inWorld(t, gate, func(w *world) {
		w.startAll()
		w.until("all have run", 5*time.Minute, func() bool { return len(w.runs(time.Time{})) == 5 })
		time.Sleep(time.Minute)
		due := gateOf(t, w, "c").NextRun
		w.set(func() { w.result = failing(7) })
		begun := time.Now()
		end, err := source{w.agents["c"].Agent}.RunNow(context.Background(), control.RunNow{Wait: true})
		if err != nil || !end.Ended || end.Exit != 7 || end.Error == "" {
			t.Errorf("%+v, %v", end, err)
		}
		if runs := w.runs(begun); len(runs) != 1 || runs[0].Name != "c" || time.Since(begun) > time.Minute {
			t.Errorf("%v after %v", runs, time.Since(begun))
		}
		if g := gateOf(t, w, "c"); !g.NextRun.Equal(due) || g.Failures != 1 || len(g.Callers) > 0 {
			t.Errorf("due at %v instead of %v; %+v", g.NextRun, due, g)
		}
	})
}

func TestACallerThatDoesNotWaitIsRefusedInAPausedGate(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(30 * time.Second)
		w.pause("a", 0)
		_, err := w.agents["a"].exec(context.Background(), control.ExecRequest{NonBlock: true, Command: "c"}, nil)
		if r, ok := errors.AsType[*control.Refusal](err); !ok || r.Reason != control.Busy ||
			!strings.Contains(r.Text, "paused") {
			t.Errorf("%v", err)
		}
	})
}

// Ten agents: a directive from one is in force on all. The distribution of the times is printed by
//
//	go test ./agent -run Ten -pauses 100 -v
func TestAPauseIsInForceOnTenAgentsWithinTwoSeconds(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	for name, loss := range map[string]float64{"no loss": 0, "5 % loss": 0.05} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, testGate(), func(w *world) {
				w.net = memnet.New(memnet.Options{
					Seed: 1, Latency: time.Millisecond, Jitter: time.Millisecond, Loss: loss,
				})
				for i, more := range []string{"f", "g", "h", "i", "j"} {
					w.agents[more] = &resident{
						bootedAt: time.Now(),
						addr:     netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 6)}), 7946),
					}
				}
				w.startAll()
				time.Sleep(time.Minute)
				var all, away []time.Duration
				for i := range *pauses {
					by, gone := w.names()[i%10], w.names()[(i+3)%10]
					w.pause(by, 0)
					all = append(all, w.allObey(true))
					w.giveDirective(by, control.Directive{})
					all = append(all, w.allObey(false))

					// A member that was away obeys it, too.
					if err := w.leave(gone); err != nil {
						t.Fatal(err)
					}
					w.pause(by, 0)
					time.Sleep(time.Minute)
					w.start(gone, AloneWait)
					away = append(away, w.allObey(true))
					w.giveDirective(by, control.Directive{})
					w.allObey(false)
					time.Sleep(time.Duration(i) * 317 * time.Millisecond)
				}
				tellTimes(t, "all ten obey", all)
				tellTimes(t, "one that was away, from its start", away)
			})
		})
	}
}

// tellTimes prints a distribution, and checks its end.
func tellTimes(t *testing.T, what string, times []time.Duration) {
	t.Helper()
	slices.Sort(times)
	at := func(share float64) time.Duration {
		return times[int(share*float64(len(times)-1))].Round(time.Millisecond)
	}
	t.Logf("%s, %d times: median %v, 90 %% %v, 99 %% %v, longest %v", what, len(times), at(0.5), at(0.9), at(0.99),
		at(1))
	if at(1) > 2*time.Second {
		t.Errorf("%s after %v", what, at(1))
	}
}

// A host can give a directive for a gate that it does not have, but others have.
func TestADirectiveIsGivenWhereTheGateIsNot(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(time.Minute)
		w.regates("b", "default", "other")
		w.until("it has the gate", time.Minute, w.hasGates("b", "default", "other"))
		directive := control.Directive{Gate: "other", Pause: true, User: "alice", Reason: "the mirror is down"}
		a := source{w.agents["a"].Agent}
		if err := a.GiveDirective(context.Background(), directive); !refused(err, control.NoGate) {
			t.Errorf("%v, and it has no such gate", err)
		}
		directive.Elsewhere = true
		if err := a.GiveDirective(context.Background(), directive); err != nil {
			t.Fatal(err)
		}
		w.until("the gate is paused", 10*time.Second, func() bool { return w.gates("b")["other"].Paused != nil })
		if p := w.gates("b")["other"].Paused; p.By != "alice@a" || p.Reason != directive.Reason {
			t.Errorf("paused %+v", p)
		}
		if w.gates("b")["default"].Paused != nil {
			t.Error("another gate is paused, too")
		}
		directive.Pause = false
		if err := a.GiveDirective(context.Background(), directive); err != nil {
			t.Fatal(err)
		}
		w.until("the gate is resumed", 10*time.Second, func() bool { return w.gates("b")["other"].Paused == nil })
	})
}
