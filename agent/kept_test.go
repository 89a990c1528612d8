package agent

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// keeps is how long grants outlive their hosts in these tests.
const keeps = 10 * time.Minute

// inRebootingWorld runs a test with three hosts whose hooks reboot them, one at a time, in each kind of gate. The hook
// runs for four seconds.
func inRebootingWorld(t *testing.T, scenario func(w *world)) {
	t.Helper()
	t.Run("tree", func(t *testing.T) { inRebootingWorldWith(t, testGate(), time.Hour, scenario) })
	for name, onCall := range map[string]bool{"sweep": false, "call": true} {
		t.Run(name, func(t *testing.T) {
			if !onCall {
				deep.AtNight(t, "runs what the gate on call runs in half a minute")
			}
			g := testGate()
			g.onCall, g.Settings.Keep, g.MinInterval, g.Backups, g.Walk = onCall, keeps, time.Hour, 2, wander.Sweep
			inWorld(t, g, func(w *world) {
				for _, name := range threeHosts() {
					w.start(name, AloneWait)
				}
				scenario(w)
			})
		})
	}
}

// inRebootingWorldWith is the same in a strict gate with other settings.
func inRebootingWorldWith(t *testing.T, g soft, minInterval time.Duration, scenario func(w *world)) {
	t.Helper()
	inStrictWorld(t, func(w *world) {
		w.gate, w.keep = g, keeps
		w.strictly = strict.Settings{
			Moves: strict.Tree, Backups: 1, Lease: 8 * time.Second, KillAfter: time.Second, Keep: keeps,
			Margin: 100 * time.Millisecond, Rho: 0.01, Patience: 200 * time.Millisecond, MinInterval: minInterval,
		}
		for _, name := range threeHosts() {
			w.start(name, AloneWait)
		}
		scenario(w)
	}, threeHosts()...)
}

func threeHosts() []string { return []string{"a", "b", "c"} }

// goesDown waits for the first run, and lets its host go down: the service manager stops the agent, or the power fails.
// It returns the host.
func (w *world) goesDown(powerCut bool) (name string) {
	w.t.Helper()
	name = w.untilRuns(keeps + 2*time.Minute)
	r := w.agents[name]
	if powerCut {
		w.crash(name)
		return name
	}
	w.set(func() { r.stops = true })
	if err := w.leave(name); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
	return name
}

// comesBack starts the host again, in its next boot.
func (w *world) comesBack(name string) {
	r := w.agents[name]
	w.set(func() { r.stops, r.boots, r.bootedAt = false, r.boots+1, time.Now() })
	w.start(name, AloneWait)
}

// A host that goes down under its grant keeps it: nobody else runs before it is up again, and has handed it back. Then
// the next one runs. The history has one run, with both boots.
func TestNoOtherHostRunsUntilTheOneThatRebootsIsUpAgain(t *testing.T) {
	deep.Only(t, "hosts that reboot take many seconds")
	for name, powerCut := range map[string]bool{"shut down": false, "power cut": true} {
		t.Run(name, func(t *testing.T) {
			inRebootingWorld(t, func(w *world) {
				first := w.goesDown(powerCut)
				down := time.Now()
				time.Sleep(5 * time.Minute)
				if n := len(w.runs(down)); n > 0 {
					t.Fatalf("%d runs while %s is away", n, first)
				}
				w.set(func() { w.agents[first].comesUp = true })
				w.comesBack(first)
				time.Sleep(2 * time.Minute)
				if n := len(w.runs(down)); n > 0 {
					t.Fatalf("%d runs while %s is still starting", n, first)
				}
				w.set(func() { w.agents[first].comesUp = false })
				next := w.untilRuns(time.Minute)
				if next == first {
					t.Errorf("%s runs again within min_interval", first)
				}
				runs := w.history(first)
				if n := len(runs); n != 1 || runs[0].Reboot == nil || runs[0].Failed() ||
					runs[0].Reboot.From == runs[0].Reboot.To || runs[0].Took() < 7*time.Minute {
					t.Errorf("its history: %+v", runs)
				}
			})
		})
	}
}

// A host that stays away loses its grant after keep. When it comes back, it runs nothing, and says so.
func TestAHostThatStaysAwayLosesItsGrant(t *testing.T) {
	deep.Only(t, "hosts that reboot take many seconds")
	inRebootingWorld(t, func(w *world) {
		first := w.goesDown(false)
		down := time.Now()
		time.Sleep(keeps - time.Minute)
		if n := len(w.runs(down)); n > 0 {
			t.Fatalf("%d runs while the grant of %s is kept", n, first)
		}
		w.untilRuns(3 * time.Minute)
		var log bytes.Buffer
		w.log = zerolog.New(zerolog.SyncWriter(&log))
		w.comesBack(first)
		time.Sleep(10 * time.Minute)
		bubble.Wait()
		if n := strings.Count(log.String(), "longer than its grant was kept; others have gone on"); n != 1 {
			t.Errorf("%s says %d times that it was away for too long: %s", first, n, log.String())
		}
		for _, run := range w.runs(down) {
			if run.Name == first {
				t.Errorf("%s runs again", first)
			}
		}
	})
}

// Supporters that restart meanwhile wait, too.
func TestAKeptGrantSurvivesTheRestartOfAllOthers(t *testing.T) {
	inRebootingWorld(t, func(w *world) {
		first := w.goesDown(false)
		down := time.Now()
		for _, name := range threeHosts() {
			if name != first {
				w.crash(name)
				w.start(name, AloneWait)
			}
		}
		time.Sleep(keeps - time.Minute)
		if n := len(w.runs(down)); n > 0 {
			t.Fatalf("%d runs while the grant of %s is kept", n, first)
		}
		w.comesBack(first)
		w.untilRuns(2 * time.Minute)
	})
}

// An agent that is stopped while its host stays up hands its grant back, as ever.
func TestAnAgentThatStopsHandsItsGrantBack(t *testing.T) {
	inRebootingWorld(t, func(w *world) {
		first := w.untilRuns(keeps + 2*time.Minute)
		if err := w.leave(first); err != nil {
			t.Fatal(err)
		}
		if next := w.untilRuns(time.Minute); next == first {
			t.Errorf("%s runs after it has stopped", first)
		}
	})
}

// So does one that is stopped after its run, while it waits to see whether its host goes down: it waits no longer.
func TestAnAgentThatStopsDoesNotWaitForItsHostToGoDown(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inRebootingWorld(t, func(w *world) {
		first := w.untilRuns(keeps + 2*time.Minute)
		r := w.agents[first]
		w.until("its hook has ended", time.Minute, func() bool {
			return read(w, func() bool { return r.running == 0 })
		})
		time.Sleep(5 * time.Second)
		if !w.strict(first).Running {
			t.Fatal("it does not wait to see whether its host goes down")
		}
		stopped := time.Now()
		if err := w.leave(first); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(stopped); took > 10*time.Second {
			t.Errorf("the stop takes %v", took)
		}
		if next := w.untilRuns(time.Minute); next == first {
			t.Errorf("%s runs after it has stopped", first)
		}
	})
}

// A caller goes when its command has ended. If that was a reboot, its host is about to go down, and keeps its grant.
func TestACommandThatRebootsItsHostKeepsTheGrant(t *testing.T) {
	for name, reboots := range map[string]bool{"reboots": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				a := w.agents["a"]
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				command := &pretendRun{stop: make(chan struct{}), done: make(chan hook.Result, 1)}
				w.wg.Go(func() {
					_, _ = a.exec(ctx, control.ExecRequest{Command: "systemctl"},
						func(hook.Spec, time.Time) (gate.HookRun, error) { return command, nil })
				})
				w.until("it runs", time.Minute, func() bool { return w.strict("a").Running })
				time.Sleep(time.Second)
				cancel()
				command.done <- hook.Result{}
				w.mustNotGrant("b", 20*time.Second)
				if !reboots {
					w.mustGrant("b")
					return
				}
				w.shutDown("a")
				w.mustNotGrant("b", 5*time.Minute)
				w.comesBack("a")
				w.mustGrant("b")
			})
		})
	}
}

// running is a command of a caller on host a, which has its grant.
type running struct {
	w      *world
	grant  hook.Spec
	run    *pretendRun
	cancel context.CancelFunc
}

// runsOnA lets a caller on host a run a command.
func (w *world) runsOnA() *running {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{w: w, run: &pretendRun{stop: make(chan struct{}), done: make(chan hook.Result, 1)}, cancel: cancel}
	a, started := w.agents["a"], make(chan struct{})
	w.wg.Go(func() {
		_, _ = a.exec(ctx, control.ExecRequest{Command: "upgrade"},
			func(spec hook.Spec, _ time.Time) (gate.HookRun, error) {
				r.grant = spec
				close(started)
				return r.run, nil
			})
	})
	select {
	case <-started:
		time.Sleep(time.Second)
	case <-time.After(2 * time.Minute):
		w.t.Fatal("the command does not run")
	}
	return r
}

// keep asks for what "wanderd keep" in the command asks for.
func (r *running) keep(lasts time.Duration) error {
	asks := control.Keep{Gate: r.w.gate.Name, For: control.Duration(lasts), Reason: "a new kernel"}
	for _, entry := range r.grant.Env {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "WANDERD_TOKEN":
			asks.Token = value
		case "WANDERD_SEQ":
			asks.Seq, _ = strconv.ParseUint(value, 10, 64)
		}
	}
	return source{r.w.agents["a"].Agent}.Keep(context.Background(), asks)
}

// end ends the command, with which its caller goes.
func (r *running) end(result hook.Result) {
	r.cancel()
	r.run.done <- result
}

// A run may ask that its grant is kept beyond its end, however it ends: its host goes down some minutes later. The
// agent may be replaced meanwhile. Whoever does not go down after all hands the grant back when that time is over.
func TestARunKeepsItsGrantBeyondItsEnd(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for name, test := range map[string]struct {
		restarts, crashes, reboots, fails bool
	}{
		"fails, its agent dies, is started, and the host reboots": {fails: true, crashes: true, reboots: true},
		"its agent is restarted, and the host stays up":           {restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			inLockingWorld(t, func(w *world) {
				r := w.runsOnA()
				if err := r.keep(5 * time.Minute); err != nil {
					w.t.Fatal(err)
				}
				asked := time.Now()
				if test.fails {
					r.end(hook.Result{Exit: 1, Err: errors.New("exit status 1")})
				} else {
					r.end(hook.Result{})
				}
				time.Sleep(time.Minute)
				k := w.keptByA("a")
				if k.Reason != "a new kernel" || k.Beyond.Sub(asked).Round(time.Minute) != 5*time.Minute {
					w.t.Errorf("it says of its grant: %+v", k)
				}
				switch {
				case test.restarts:
					if err := w.leave("a"); err != nil {
						w.t.Fatal(err)
					}
					w.start("a", AloneWait)
				case test.crashes:
					w.crash("a")
					w.start("a", AloneWait)
				}
				w.mustNotGrant("b", time.Until(asked.Add(5*time.Minute-5*time.Second)))
				if test.reboots {
					w.shutDown("a")
					w.mustNotGrant("b", 5*time.Minute)
					w.comesBack("a")
				}
				w.mustGrant("b")
			})
		})
	}
}

// Whoever asks hears an error that says what to do, unless it can rely on the grant.
func TestAGrantIsNotKeptBeyondItsEndInVain(t *testing.T) {
	inLockingWorld(t, func(w *world) {
		r := w.runsOnA()
		wantErr := func(lasts time.Duration, want string) {
			w.t.Helper()
			if err := r.keep(lasts); err == nil || !strings.Contains(err.Error(), want) {
				w.t.Errorf("keep for %v: %v, want %q", lasts, err, want)
			}
		}
		wantErr(keeps+time.Second, "for which gate")
		wantErr(0, "is not from 1s")
		for _, other := range []string{"b", "c"} {
			w.crash(other)
		}
		wantErr(time.Minute, "have not confirmed in time")
		if k := w.keptByA("a"); !k.Beyond.IsZero() {
			w.t.Errorf("it is kept beyond its end all the same: %+v", k)
		}
		for _, other := range []string{"b", "c"} {
			w.start(other, AloneWait)
		}
		time.Sleep(10 * time.Second)
		r.end(hook.Result{})
		time.Sleep(time.Second)
		wantErr(time.Minute, "is over, and so is its grant")
		w.mustGrant("b")
	})
}
