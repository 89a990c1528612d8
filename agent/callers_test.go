package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/wander"
)

// onDemand is a gate without a hook.
func onDemand() soft {
	g := testGate()
	g.Hook = nil
	g.Settings = wander.Settings{Skip: time.Second, Op: 4 * time.Second, Walk: wander.Sweep, Backups: 2}
	return g
}

// onBoth runs a scenario with each kind of gate without a hook: with a token that goes round, and with one on call.
func onBoth(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	for _, onCall := range []bool{false, true} {
		g := onDemand()
		g.onCall = onCall
		t.Run(g.config().Protocol.Descriptor().Name, func(t *testing.T) {
			inWorld(t, g, func(w *world) { scenario(t, w) })
		})
	}
}

// asked is the outcome of a caller's command.
type asked struct {
	name string
	hook.Result
	err error
}

// exec makes a caller wait on a host.
func (w *world) exec(ctx context.Context, host, name string, ended chan<- asked) {
	w.asks(ctx, host, control.ExecRequest{Gate: "default", Command: name}, ended)
}

// asks makes a caller ask a host.
func (w *world) asks(ctx context.Context, host string, request control.ExecRequest, ended chan<- asked) {
	a := w.agents[host].Agent
	w.wg.Go(func() {
		r, err := a.exec(ctx, request, func(spec hook.Spec, _ time.Time) (gate.HookRun, error) {
			return w.pretend(w.agents[host], spec), nil
		})
		ended <- asked{request.Command, r, err}
	})
	time.Sleep(time.Millisecond) // the next one asks later
}

func TestCallersOfAGateOnDemandRunOneAtATimeAndOnAHostInTheirOrder(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	onBoth(t, func(t *testing.T, w *world) {
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
	onBoth(t, func(t *testing.T, w *world) {
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
	onBoth(t, func(t *testing.T, w *world) {
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
			if r := <-ended; r.name == "first" && !r.Stopped || r.name == "second" && !refused(r.Err, control.Leaving) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// refused reports whether an error is a refusal for a reason.
func refused(err error, why control.Reason) bool {
	refusal, ok := errors.AsType[*control.Refusal](err)
	return ok && refusal.Reason == why
}

func TestACallerIsToldWhichGatesThereAre(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.start("a", AloneRun)
		ended := make(chan asked, 1)
		w.asks(context.Background(), "a", control.ExecRequest{Gate: "other"}, ended)
		if r := <-ended; !refused(r.err, control.NoGate) || !strings.Contains(r.err.Error(), "its gates are default:") {
			t.Errorf("%+v", r)
		}
		w.asks(context.Background(), "a", control.ExecRequest{}, ended)
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("of the only gate: %+v", r)
		}
	})
}

// A caller that stands still when its turn comes delays nobody: its grant is given back, and the next caller has its
// turn.
func TestACallerThatDoesNotStartItsCommandInTimeLosesItsTurn(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.start("a", AloneRun)
		ended := make(chan asked, 2)
		late := w.agents["a"].Agent
		w.wg.Go(func() {
			r, err := late.exec(context.Background(), control.ExecRequest{Command: "late"},
				func(_ hook.Spec, startBy time.Time) (gate.HookRun, error) {
					time.Sleep(time.Until(startBy))
					return nil, hook.ErrLate
				})
			ended <- asked{"late", r, err}
		})
		time.Sleep(time.Millisecond)
		w.exec(context.Background(), "a", "next", ended)
		if r := <-ended; r.name != "late" || !refused(r.Err, control.Late) {
			t.Errorf("%+v", r)
		}
		if r := <-ended; r.name != "next" || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
}

func TestTheStatusListsCallersInTheOrderOfTheirTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.start("a", AloneRun)
		ended := make(chan asked, 3)
		asking := time.Now()
		for i, name := range []string{"first", "second", "third"} {
			w.asks(context.Background(), "a", control.ExecRequest{Command: name, PID: 100 + i}, ended)
		}
		w.until("the first one runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
		s, err := source{w.agents["a"].Agent}.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, c := range s.Gates[0].Callers {
			got = append(got, c.Command)
			if c.PID != 100+i || c.Since.Before(asking) || c.Running != (i == 0) || c.RunningSince.IsZero() != (i > 0) {
				t.Errorf("%d: %+v", i, c)
			}
		}
		if strings.Join(got, " ") != "first second third" {
			t.Error(got)
		}
		for range 3 {
			<-ended
		}
	})
}

func TestACallerThatDoesNotWaitIsRefusedWhereItWouldHaveTo(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.start("a", AloneRun)
		ended := make(chan asked, 3)
		w.exec(context.Background(), "a", "before", ended)
		<-ended
		w.until("it holds the token", time.Minute, func() bool { return len(w.holders()) > 0 })
		for i, name := range []string{"runs", "refused"} {
			w.asks(context.Background(), "a", control.ExecRequest{Command: name, NonBlock: true}, ended)
			if i == 0 {
				w.until("it runs", time.Minute, func() bool { return w.agents["a"].isRunning(w) })
			}
		}
		if r := <-ended; r.name != "refused" || !refused(r.err, control.Busy) {
			t.Errorf("%+v", r)
		}
		if r := <-ended; r.name != "runs" || r.Err != nil || r.err != nil {
			t.Errorf("%+v", r)
		}
	})
}

// "The run that is granted goes to the hook if that is due, and else to the first caller."
func TestAGateWithAHookTakesCommandsAndItsHookStaysDue(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	gate := testGate()
	gate.Walk, gate.Backups = wander.Sweep, 2
	inWorld(t, gate, func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		runs := func() int {
			s, err := source{w.agents["a"].Agent}.Status(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return int(s.Gates[0].Runs)
		}
		asking, before, ended := time.Now(), runs(), make(chan asked, 1)
		for i := range 30 { // a caller waits all the time
			w.exec(context.Background(), "a", fmt.Sprint(i), ended)
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Fatalf("%+v", r)
			}
		}
		took := time.Since(asking)
		hooks, due := runs()-before, int(took/gate.MinInterval)
		if hooks < due-1 || hooks > due+1 || took > 15*time.Minute {
			t.Errorf("30 commands took %v, and the hook ran %d times meanwhile; it was due %d times", took, hooks, due)
		}
		if overlap := w.overlap(asking); overlap != 0 {
			t.Errorf("two ran at once for %v", overlap)
		}
	})
}

// How a caller's command ends concerns only its caller: status and history do not count it as a run of the hook.
func TestACallersRunDoesNotCountAsARunOfTheHook(t *testing.T) {
	gate := testGate()
	gate.MinInterval, gate.StopAfter = time.Hour, 1
	inWorld(t, gate, func(w *world) {
		w.start("a", AloneRun)
		w.until("the hook has run", time.Minute, func() bool { return gateOf(t, w, "a").Results["ok"] == 1 })
		before, ended := gateOf(t, w, "a"), make(chan asked, 1)
		w.set(func() { w.result, w.takes = failing(9), 3*time.Millisecond })
		for range 2 {
			w.exec(context.Background(), "a", "sh", ended)
			if r := <-ended; r.err != nil || r.Exit != 9 {
				t.Fatalf("%+v", r)
			}
		}
		time.Sleep(time.Second)
		g := gateOf(t, w, "a")
		if g.Runs != 1 || g.Failures != 0 || len(g.Results) != 1 || g.Results["ok"] != 1 || g.LastExit != "ok" ||
			g.LastTook != before.LastTook ||
			!g.LastRun.Equal(before.LastRun) || g.FailedLast() || g.Paused != nil || len(g.Failing) > 0 {
			t.Errorf("the hook: %+v", g)
		}
		if c := g.LastCommand; g.Commands != 2 || g.CommandResults["failed"] != 2 || c == nil || c.Command != "sh" ||
			c.Exit != "exit status" ||
			time.Duration(c.Took) != 3*time.Millisecond || time.Since(c.Began) > 2*time.Second {
			t.Errorf("the commands: %d, %v, %+v", g.Commands, g.CommandResults, g.LastCommand)
		}
		if f := w.fleet("a"); f.Members[0].Status.Gates[0].FailedLast() {
			t.Error("the fleet says that the last run has failed")
		}
		text := w.scrape("a")
		for _, want := range []string{
			`wanderd_runs_total{gate="default",result="ok"} 1`,
			`wanderd_commands_total{gate="default",result="failed"} 2`,
			`wanderd_run_duration_seconds_count{gate="default"} 1`,
			`wanderd_command_duration_seconds_count{gate="default"} 2`,
			`wanderd_command_wait_seconds_count{gate="default"} 2`,
		} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("no line %q", want)
			}
		}
		if strings.Contains(text, `wanderd_runs_total{gate="default",result="failed"}`) {
			t.Error("a command counts as a run that failed")
		}
	})
}
