package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/wander"
)

// onDemand is a gate without a hook.
func onDemand() soft {
	g := testGate()
	g.Hook = nil
	g.Settings = wander.Settings{Skip: time.Second, Op: 4 * time.Second, Walk: wander.Sweep, Backups: 2}
	return g
}

// asked is what came of a caller's command.
type asked struct {
	name string
	hook.Result
	err error
}

// exec lets somebody wait on a host.
func (w *world) exec(ctx context.Context, host, name string, ended chan<- asked) {
	a := w.agents[host].Agent
	w.wg.Go(func() {
		r, err := a.Exec(ctx, "default", []string{name})
		ended <- asked{name, r, err}
	})
	time.Sleep(time.Millisecond) // the next one asks later
}

// A caller whose run was denied comes first again; one that has gone meanwhile does not come at all, and is told.
func TestACallerWhoseRunIsDeniedComesFirstAgainUnlessItHasGone(t *testing.T) {
	newCaller := func() *caller { return &caller{ended: make(chan hook.Result, 1)} }
	for _, gone := range []bool{false, true} {
		first, second := newCaller(), newCaller()
		g := &gate{cfg: GateConfig{Name: "x"}, callers: callers{queue: []*caller{first, second}}, run: &launch{}}
		a := &Agent{gates: []*gate{g}}
		g.callers.begin()
		if gone {
			a.withdraw("x", first)
			if !g.run.isStopped() {
				t.Error("the run of one that has gone is not stopped")
			}
		}
		g.callers.again()
		if next := g.callers.queue[0]; (next == first) == gone || (len(first.ended) == 1) != gone {
			t.Errorf("gone: %v; it comes next: %v, and is told: %v", gone, next == first, len(first.ended) == 1)
		}
	}
}

func TestCallersOfAGateOnDemandRunOneAtATimeAndOnAHostInTheirOrder(t *testing.T) {
	inWorld(t, onDemand(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		if runs := w.runs(time.Time{}); len(runs) != 0 {
			t.Fatalf("%d runs, and nobody has asked for one", len(runs))
		}
		asking, ended := time.Now(), make(chan asked, 10)
		for _, name := range []string{"a1", "a2", "b1", "a3", "e1"} {
			w.exec(context.Background(), name[:1], name, ended)
		}
		var order []string
		for range 5 {
			r := <-ended
			if r.err != nil || r.Err != nil || r.Took != 4*time.Second {
				t.Errorf("%s: %+v, %v", r.name, r.Result, r.err)
			}
			if r.name[0] == 'a' {
				order = append(order, r.name)
			}
		}
		if got := strings.Join(order, " "); got != "a1 a2 a3" {
			t.Errorf("on one host they ran as %s", got)
		}
		// At most three laps, in which five run in all.
		if took := time.Since(asking); took > 60*time.Second {
			t.Errorf("it took %v", took)
		}
		if overlap := w.overlap(asking); overlap != 0 {
			t.Errorf("two ran at once for %v", overlap)
		}
		before := len(w.runs(asking))
		time.Sleep(10 * time.Minute)
		if after := len(w.runs(asking)); before != 5 || after != 5 {
			t.Errorf("%d runs, and then %d", before, after)
		}
	})
}

func TestACallerThatWaitsNoLongerRunsNothingAndOneThatRunsIsStopped(t *testing.T) {
	inWorld(t, onDemand(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		ended := make(chan asked, 3)
		first, stop := context.WithCancel(context.Background())
		second, goes := context.WithCancel(context.Background())
		w.exec(first, "a", "first", ended)
		w.exec(second, "a", "second", ended)
		w.until("the first one runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		goes()
		if r := <-ended; r.name != "second" || !r.NotExecuted || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%+v", r)
		}
		stop()
		if r := <-ended; r.name != "first" || !r.Stopped {
			t.Errorf("%+v", r)
		}
		time.Sleep(10 * time.Minute)
		if runs := len(w.runs(time.Time{})); runs != 1 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestAnAgentThatStopsSendsItsCallersAway(t *testing.T) {
	inWorld(t, onDemand(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		ended := make(chan asked, 2)
		w.exec(context.Background(), "a", "first", ended)
		w.exec(context.Background(), "a", "second", ended)
		w.until("the first one runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		if err := w.leave("a"); err != nil {
			t.Error(err)
		}
		for range 2 {
			if r := <-ended; r.name == "first" && !r.Stopped || r.name == "second" && !errors.Is(r.Err, errLeaving) {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestAGateWithAHookTakesNoCommands(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		for gate, want := range map[string]string{"default": "takes no commands", "other": "no gate"} {
			if _, err := w.agents["a"].Exec(context.Background(), gate, []string{"x"}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", gate, err)
			}
		}
	})
}
