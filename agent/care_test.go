package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	softgate "github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/strict"
)

// inCaringWorld runs a test in a soft gate whose hosts are looked after: hooks take four seconds.
func inCaringWorld(t *testing.T, care aftercare.Config, scenario func(w *world)) {
	t.Helper()
	gate := testGate()
	gate.MinInterval, gate.StopAfter, gate.Backups, gate.Soak = time.Hour, 1, 2, care.Soak
	inWorld(t, gate, func(w *world) {
		w.care = care
		scenario(w)
	})
}

func asksAfter(soak time.Duration) aftercare.Config {
	return aftercare.Config{Soak: soak, After: []string{"healthy"}, Every: 10 * time.Second, Timeout: time.Minute}
}

// Nobody starts in the soak of another host: starts are a soak and an operation apart. The history has the operation.
func TestNobodyStartsInTheSoakOfAnotherHost(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			if !onCall {
				deep.AtNight(t, "runs what the token on call runs")
			}
			inCaringWorld(t, aftercare.Config{Soak: 5 * time.Minute}, func(w *world) {
				w.gate.onCall = onCall
				begun := time.Now()
				w.startAll()
				w.until("all have run", time.Hour, func() bool { return len(w.runs(begun)) == 5 })
				runs := w.runs(begun)
				for i := range runs[1:] {
					if apart := runs[i+1].At.Sub(runs[i].At); apart < 5*time.Minute+4*time.Second {
						t.Errorf("%s starts %v after %s", runs[i+1].Name, apart, runs[i].Name)
					}
				}
				first := runs[0].Name
				h := w.history(first)
				if len(h) != 1 || h[0].Took().Round(time.Second) != 4*time.Second || h[0].Failed() {
					t.Errorf("%+v", h)
				}
				time.Sleep(10 * time.Second)
				last := gateOf(t, w, runs[4].Name)
				if !last.Running || last.Care == nil || last.Care.SoakUntil.IsZero() {
					t.Errorf("in its soak: %+v", last.Care)
				}
			})
		})
	}
}

// Nobody starts before the host has said that it is healthy, although its soak is over.
func TestNobodyStartsBeforeTheHostIsHealthy(t *testing.T) {
	inCaringWorld(t, asksAfter(20*time.Second), func(w *world) {
		begun := time.Now()
		for _, name := range w.names() {
			w.health[name] = answer{exit: 75}
		}
		w.startAll()
		first := w.untilStarts(time.Minute)
		time.Sleep(50 * time.Second)
		n, care := len(w.runs(begun)), gateOf(t, w, first).Care
		if n != 1 || care == nil || !strings.HasPrefix(care.Answer, "not yet: exit status 75") {
			t.Fatalf("%d runs; %+v", n, care)
		}
		for _, name := range w.names() {
			w.set(func() { w.health[name] = answer{} })
		}
		w.until("the next run", time.Minute, func() bool { return len(w.runs(begun)) == 2 })
		if h := w.history(first); h[0].Failed() {
			t.Errorf("%+v", h[0])
		}
	})
}

// A host that is not healthy, or does not say so in time, counts as failed: the brake stops the others, it is repeated
// after retry_after, and the history says why.
func TestAHostThatIsNotHealthyCountsAsAFailedRun(t *testing.T) {
	deep.Only(t, "hosts that are looked after take many seconds")
	for name, c := range map[string]struct {
		says answer
		soak time.Duration
		why  string
		exit int
	}{
		"says so":             {answer{exit: 3}, time.Hour, "unhealthy: after said: exit status 3: are broken", 3},
		"does not become so":  {answer{exit: 75}, 0, "unhealthy: after has not said yes for 1m0s", 124},
		"does not answer":     {answer{takes: time.Hour}, 0, "unhealthy: after has not said yes for 1m0s", 124},
		"said so in its soak": {answer{exit: 3}, 10 * time.Minute, "unhealthy: after said: exit status 3", 3},
	} {
		t.Run(name, func(t *testing.T) {
			inCaringWorld(t, asksAfter(c.soak), func(w *world) {
				begun := time.Now()
				if c.soak != 10*time.Minute {
					for _, name := range w.names() {
						w.health[name] = c.says
					}
				}
				w.startAll()
				first := w.untilStarts(time.Minute)
				if c.soak == 10*time.Minute {
					time.Sleep(5 * time.Minute)
					w.set(func() { w.health[first] = c.says })
				}
				w.until("the brake", 3*time.Minute, func() bool { return gateOf(t, w, "a").Paused != nil })
				time.Sleep(5 * time.Minute)
				if n := len(w.runs(begun)); n != 1 {
					t.Errorf("%d runs", n)
				}
				h, g := w.history(first), gateOf(t, w, first)
				if len(h) != 1 || !strings.HasPrefix(h[0].Error, c.why) || h[0].Took() > 5*time.Second {
					t.Errorf("%+v", h)
				}
				if g.Failures != 1 || g.Results["failed"] != 1 || !strings.HasPrefix(g.LastExit, c.why) ||
					g.Care != nil {
					t.Errorf("%d failures, %v, %q, %+v", g.Failures, g.Results, g.LastExit, g.Care)
				}
				if len(g.Failing) != 1 || g.Failing[0].Exit != c.exit {
					t.Errorf("%+v", g.Failing)
				}
			})
		})
	}
}

// Nothing follows a run that has failed, or could not do its work now.
func TestNothingFollowsARunThatHasNotSucceeded(t *testing.T) {
	for name, r := range map[string]hook.Result{
		"failed":  {Exit: 1, Err: errors.New("exit status 1")},
		"not now": {Exit: 75, Err: errors.New("exit status 75")},
	} {
		t.Run(name, func(t *testing.T) {
			inCaringWorld(t, asksAfter(time.Hour), func(w *world) {
				w.result, w.gate.StopAfter = r, 0
				begun := time.Now()
				w.startAll()
				w.until("all have run", 2*time.Minute, func() bool { return len(w.runs(begun)) >= 5 })
			})
		})
	}
}

// A caller's command soaks, too, and its caller does not wait for that. If the host is not healthy after it, the brake
// stops the gate.
func TestACommandSoaksAndItsCallerDoesNotWait(t *testing.T) {
	gate := testGate()
	gate.Hook, gate.MinInterval, gate.StopAfter, gate.Backups = nil, 0, 1, 2
	inWorld(t, gate, func(w *world) {
		w.care = asksAfter(time.Minute)
		w.startAll()
		time.Sleep(20 * time.Second)
		begun := time.Now()
		ended, second := make(chan asked, 1), make(chan asked, 1)
		w.exec(context.Background(), "a", "x", ended)
		if r := <-ended; r.err != nil || r.Err != nil || time.Since(begun) > 30*time.Second {
			t.Fatalf("after %v: %+v", time.Since(begun), r)
		}
		over := time.Now()
		w.set(func() { w.health["b"] = answer{exit: 4} })
		w.exec(context.Background(), "b", "y", second)
		if r := <-second; r.err != nil || r.Err != nil || time.Since(over) < time.Minute {
			t.Errorf("%v after the first: %+v", time.Since(over), r)
		}
		w.until("the brake", time.Minute, func() bool { return gateOf(t, w, "c").Paused != nil })
		if p := gateOf(t, w, "b").Paused; p.Reason != "1 hosts failed in a row: b (exit 4)" {
			t.Errorf("%+v", p)
		}
	})
}

// A stop does not end the soak: the token goes on with what is left. The run has succeeded, and is not repeated.
func TestASoakGoesOnAfterAStop(t *testing.T) {
	deep.Only(t, "hosts that are looked after take many seconds")
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			if !onCall {
				deep.AtNight(t, "runs what the token on call runs")
			}
			inCaringWorld(t, asksAfter(20*time.Minute), func(w *world) {
				w.gate.onCall = onCall
				w.startAll()
				first := w.untilStarts(time.Minute)
				over := w.runs(time.Time{})[0].At.Add(4*time.Second + 20*time.Minute)
				time.Sleep(time.Minute)
				stopped := time.Now()
				if err := w.leave(first); err != nil || time.Since(stopped) > 5*time.Second {
					t.Errorf("it leaves after %v: %v", time.Since(stopped), err)
				}
				w.start(first, AloneWait)
				w.until("the next run", 30*time.Minute, func() bool { return len(w.runs(stopped)) > 0 })
				if next := w.runs(stopped)[0]; next.Name == first || next.At.Before(over) {
					t.Errorf("%s runs %v after the soak is over", next.Name, next.At.Sub(over))
				}
				if h := w.history(first); len(h) != 1 || h[0].Failed() {
					t.Errorf("%+v", h)
				}
			})
		})
	}
}

// A drain waits for the end of the soak.
func TestADrainWaitsForTheEndOfTheSoak(t *testing.T) {
	inCaringWorld(t, aftercare.Config{Soak: 5 * time.Minute}, func(w *world) {
		w.startAll()
		first := w.untilStarts(time.Minute)
		begun := time.Now()
		if err := (source{w.agents[first].Agent}).Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if next := w.untilStarts(10 * time.Minute); next == first || time.Since(begun) < 5*time.Minute {
			t.Errorf("%s starts after %v", next, time.Since(begun))
		}
	})
}

// An agent that dies in its soak is revived as ever, and whoever has its token lets nobody start before the soak is
// over: not for a hook, nor for a caller; and not if it dies itself.
func TestTheRestOfASoakOutlivesItsAgent(t *testing.T) {
	deep.Only(t, "hosts that are looked after take many seconds")
	for name, onCall := range map[string]bool{"a token that goes round": false, "a token on call": true} {
		t.Run(name, func(t *testing.T) {
			if !onCall {
				deep.AtNight(t, "runs what the token on call runs")
			}
			inCaringWorld(t, asksAfter(10*time.Minute), func(w *world) {
				w.gate.onCall = onCall
				w.startAll()
				time.Sleep(30 * time.Second)
				first := w.runs(time.Time{})[0]
				over := first.At.Add(4*time.Second + 10*time.Minute)
				w.crash(first.Name)
				w.until("a token that is not used", 30*time.Second, func() bool { return w.keepsUnused() != "" })
				second := w.keepsUnused()
				g := gateOf(t, w, second)
				i := slices.IndexFunc(g.Facts, func(f control.Fact) bool { return f.Name == "soak_until" })
				if i < 0 || g.Facts[i].At.Before(over) || g.Facts[i].At.After(over.Add(2*time.Minute)) {
					t.Errorf("the soak is over at %v: %+v", over, g.Facts)
				}
				w.exec(context.Background(), second, "x", make(chan asked, 1))
				time.Sleep(2 * time.Minute)
				w.crash(second)
				w.until("the next run", 20*time.Minute, func() bool { return len(w.runs(first.At.Add(1))) > 0 })
				if next := w.runs(first.At.Add(1))[0]; next.At.Before(over) || next.At.After(over.Add(3*time.Minute)) {
					t.Errorf("%s runs %v after the soak is over", next.Name, next.At.Sub(over))
				}
				time.Sleep(20 * time.Minute) // What looks after the host goes on in this process.
			})
		})
	}
}

// In a strict gate the others promise nothing newer before the soak is over, whether the agent has died or was stopped,
// and also if it is back before: for it the run is over.
func TestInAStrictGateTheRestOfASoakOutlivesItsAgent(t *testing.T) {
	deep.Only(t, "hosts that are looked after take many seconds")
	for name, stops := range map[string]bool{"it has died": false, "it was stopped": true} {
		t.Run(name, func(t *testing.T) {
			inStrictWorld(t, func(w *world) { diesInStrictSoak(w, stops) }, threeHosts()...)
		})
	}
}

func diesInStrictSoak(w *world, stops bool) {
	const soak = 10 * time.Minute
	w.care = asksAfter(soak)
	w.strictly = strict.Settings{
		Moves: strict.Tree, Backups: 1, Lease: 8 * time.Second, KillAfter: time.Second, Soak: soak,
		Margin: 100 * time.Millisecond, Rho: 0.01, Patience: 200 * time.Millisecond, MinInterval: time.Hour,
	}
	gone := w.startThree()
	first := w.runs(time.Time{})[0]
	over := first.At.Add(4*time.Second + soak)
	time.Sleep(time.Minute)
	if stops {
		if err := w.leave(gone); err != nil {
			w.t.Error(err)
		}
	} else {
		w.crash(gone)
	}
	time.Sleep(2 * time.Minute)
	for _, name := range threeHosts() {
		if g := w.strict; name != gone && g(name).NotRunning != strict.WhySoak {
			w.t.Errorf("%s does not run, because %s", name, g(name).NotRunning)
		}
	}
	w.start(gone, AloneWait)
	w.until("the next run", 20*time.Minute, func() bool { return len(w.runs(first.At.Add(1))) > 0 })
	next := w.runs(first.At.Add(1))[0]
	if next.Name == gone || next.At.Before(over.Add(-10*time.Second)) || next.At.After(over.Add(time.Minute)) {
		w.t.Errorf("%s runs %v after the soak of %s is over", next.Name, next.At.Sub(over), gone)
	}
	time.Sleep(20 * time.Minute) // What looks after the host goes on in this process.
}

// keepsUnused is the agent that holds a token and does not use it, because a host has gone in its soak.
func (w *world) keepsUnused() string {
	for _, name := range w.names() {
		if w.agents[name].stop != nil && gateOf(w.t, w, name).NotRunning == softgate.WhyUnused {
			return name
		}
	}
	return ""
}

// With keep, the host is looked after when it is up again: its new boot asks, and soaks, before the grant goes on.
func TestAHostThatHasRebootedIsLookedAfterByItsNewBoot(t *testing.T) {
	deep.Only(t, "hosts that are looked after take many seconds")
	for name, says := range map[string]answer{"healthy": {}, "unhealthy": {exit: 3}} {
		t.Run(name, func(t *testing.T) {
			inRebootingWorld(t, func(w *world) {
				w.care, w.gate.StopAfter = asksAfter(5*time.Minute), 1
				w.restart(threeHosts()...)
				first := w.goesDown(false)
				w.set(func() { w.health[first] = says })
				time.Sleep(2 * time.Minute)
				w.comesBack(first)
				back := time.Now()
				if says.exit == 0 {
					w.until("the next run", 10*time.Minute, func() bool { return len(w.runs(back)) > 0 })
					if took := w.runs(back)[0].At.Sub(back); took < 5*time.Minute || w.runs(back)[0].Name == first {
						t.Errorf("%s runs %v after %s is back", w.runs(back)[0].Name, took, first)
					}
					return
				}
				w.until("the brake", 2*time.Minute, func() bool { return w.strict(first).Paused != nil })
				time.Sleep(10 * time.Minute)
				runs, g := w.history(first), w.strict(first)
				if n := len(w.runs(back)); n > 0 || g.Failures != 1 || len(g.Failing) != 1 || g.Failing[0].Exit != 3 {
					t.Errorf("%d runs, %d failures, %+v", n, g.Failures, g.Failing)
				}
				if len(runs) != 1 || runs[0].Reboot == nil || !strings.HasPrefix(runs[0].Error, "unhealthy: ") {
					t.Errorf("its history: %+v", runs)
				}
			})
		})
	}
}

// With keep, an agent that dies in its soak, or is stopped in what is left of it after that, goes on with it in its
// next life; one whose host goes down in its soak, too.
func TestASoakGoesOnInTheNextLifeIfTheGrantIsKept(t *testing.T) {
	deep.AtNight(t, "hosts that reboot by their clocks take many seconds")
	for name, ends := range map[string]func(w *world, name string){
		"dies": func(w *world, name string) { w.crash(name) },
		"dies, and is stopped after that": func(w *world, name string) {
			w.crash(name)
			w.start(name, AloneWait)
			time.Sleep(20 * time.Second)
			if err := w.leave(name); err != nil {
				w.t.Error(err)
			}
		},
		"reboots": func(w *world, name string) {
			w.set(func() { w.agents[name].stops = true })
			if err := w.leave(name); err != nil {
				w.t.Error(err)
			}
			w.set(func() { w.agents[name].stops, w.agents[name].boots = false, 1 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRebootingWorld(t, func(w *world) {
				w.care = asksAfter(5 * time.Minute)
				w.restart(threeHosts()...)
				first := w.untilRuns(keeps + 2*time.Minute)
				time.Sleep(2 * time.Minute)
				if g := w.strict(first); g.Care == nil {
					t.Fatal("it does not soak")
				}
				begun := time.Now()
				ends(w, first)
				w.start(first, AloneWait)
				back := time.Now()
				w.until("the next run", 10*time.Minute, func() bool { return len(w.runs(begun)) > 0 })
				if run := w.runs(begun)[0]; run.Name == first || run.At.Sub(back) < 5*time.Minute {
					t.Errorf("%s runs %v after %s is back", run.Name, run.At.Sub(back), first)
				}
				if h := w.history(first); len(h) != 1 || h[0].Failed() {
					t.Errorf("its history: %+v", h)
				}
				time.Sleep(10 * time.Minute) // What looks after the host goes on in this process.
			})
		})
	}
}

// "A gate that stands still" is paused when a host stays away for longer than its grant is kept, before anybody else
// runs. All hosts say who has not come back. A host that is back in time stops nobody.
func TestAGateStandsStillIfAHostStaysAway(t *testing.T) {
	deep.AtNight(t, "hosts that reboot by their clocks take many seconds")
	for name, powerCut := range map[string]bool{"shut down": false, "power cut": true} {
		t.Run(name, func(t *testing.T) {
			inRebootingWorld(t, func(w *world) {
				w.standStill = true
				w.restart(threeHosts()...)
				back := w.goesDown(powerCut)
				time.Sleep(keeps / 2)
				w.comesBack(back)
				first := w.untilRuns(2 * time.Minute)
				if first == back {
					t.Fatalf("%s runs again", first)
				}
				if first = w.goesDown(powerCut); first == back {
					t.Fatalf("%s runs again", first)
				}
				down := time.Now()
				time.Sleep(keeps + 5*time.Minute)
				if n := len(w.runs(down)); n > 0 {
					t.Fatalf("%d runs", n)
				}
				for _, name := range threeHosts() {
					want := first + " has not come back within 10m0s"
					if name == first {
						continue
					}
					p := w.strict(name).Paused
					if p == nil || p.Reason != want || !strings.HasPrefix(p.By, "keep_over@") || !p.Until.IsZero() {
						t.Errorf("%s says %+v", name, p)
					}
				}
				w.giveDirective(back, control.Directive{})
				if next := w.untilRuns(2 * time.Minute); next == first || next == back {
					t.Errorf("%s runs", next)
				}
				w.comesBack(first)
				time.Sleep(keeps)
				if p := w.strict(first).Paused; p != nil {
					t.Errorf("paused again: %+v", p)
				}
			})
		})
	}
}

// restart starts agents again, with the configuration as it is now.
func (w *world) restart(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.leave(name); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range names {
		w.start(name, AloneWait)
	}
}
