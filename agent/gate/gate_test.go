package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

func TestAGrantStartsTheHookAndTheMachineHearsOfItsEnd(t *testing.T) {
	b := newBench(t, nil)
	b.wantEvents(policy.Started)
	b.does(b.run())
	b.wantEvents(policy.Woke)
	run := <-b.starts
	if run.spec.Argv[0] != "hook" || !b.gate.Running() ||
		!strings.Contains(strings.Join(run.spec.Env, " "), "WANDERD_SEQ=7") {
		t.Errorf("started: %+v", run.spec)
	}
	run.done <- hook.Result{Exit: 3, Err: errors.New("exit status 3")}
	b.completes()
	b.wantEvents(policy.Finished)
	if b.gate.Running() || b.machine.last.Outcome != policy.Failed {
		t.Errorf("it runs: %v; the machine hears of %+v", b.gate.Running(), b.machine.last)
	}
	s := b.gate.Status(&Around{})
	if s.Runs != 1 || s.Failures != 1 || s.Results["failed"] != 1 || s.LastExit != "exit status 3" {
		t.Errorf("the status says %+v", s)
	}
	if len(b.seen) != 2 || !b.seen[0].Granted || !b.seen[1].Ended {
		t.Errorf("observed: %+v", b.seen)
	}
}

// One save at a time is under way, and the newest state is saved last; the machine hears only of the last save.
func TestTheNewestStateIsSavedLastAndOneAtATime(t *testing.T) {
	b := newBench(t, nil)
	b.wantEvents(policy.Started)
	for seq := range wire.Seq(3) {
		b.does(policy.Effect{Kind: policy.Save, State: policy.State{Seq: seq + 1}})
	}
	b.wantEvents(policy.Woke, policy.Woke, policy.Woke)
	b.disk.goes <- nil
	b.completes()
	b.wantEvents()
	b.disk.goes <- errors.New("no space")
	b.completes()
	b.wantEvents(policy.Saved)
	if !b.machine.last.Failed || len(b.disk.saved) != 2 || b.disk.saved[0].Seq != 1 || b.disk.saved[1].Seq != 3 {
		t.Errorf("saved: %+v; the machine hears of %+v", b.disk.saved, b.machine.last)
	}
	if s := b.gate.Status(&Around{}); s.SaveError != "no space" {
		t.Errorf("the status says %q", s.SaveError)
	}
}

func TestARemovedGateIsLeftWhenItsRunHasEnded(t *testing.T) {
	b := newBench(t, nil)
	b.does(b.run())
	run := <-b.starts
	b.wantEvents(policy.Started, policy.Woke)
	b.gate.Remove()
	b.wantEvents()
	err := b.gate.Enqueue(NewCaller(control.ExecRequest{}, nil))
	if refusal, ok := errors.AsType[*control.Refusal](err); !ok || !strings.Contains(refusal.Text, "was removed") {
		t.Errorf("a caller is told %v", err)
	}
	run.done <- hook.Result{}
	b.completes()
	b.wantEvents(policy.Finished, policy.Leave)
	if run.isStopped() || b.gate.IsOver(0) {
		t.Errorf("its run was stopped: %v; or it is over before its end is saved", run.isStopped())
	}
	b.disk.goes <- nil
	b.completes()
	if over, again := b.gate.IsOver(0), b.gate.IsOver(0); !over || again {
		t.Errorf("it is over: %v, and then %v", over, again)
	}
}

func TestNothingIsSentToAMemberThatIsGone(t *testing.T) {
	b := newBench(t, nil)
	b.fleet.members = []Peer{{ID: wire.MemberID{1}, Name: "a"}, {ID: wire.MemberID{2}, Name: "b"}}
	for _, to := range []wire.MemberID{{2}, {3}} {
		b.does(policy.Effect{Kind: policy.Send, Msg: wire.Message{To: to}})
	}
	if len(b.fleet.sent) != 1 || b.fleet.sent[0].To != (wire.MemberID{2}) || b.fleet.sent[0].Version != 1 {
		t.Errorf("sent: %+v", b.fleet.sent)
	}
}

// A fault in the machine closes the gate, stops what runs, and sends callers away; the others hear of it when nothing
// runs any more.
func TestAFaultClosesTheGate(t *testing.T) {
	b := newBench(t, nil)
	b.does(b.run())
	run := <-b.starts
	caller := NewCaller(control.ExecRequest{}, nil)
	if err := b.gate.Enqueue(caller); err != nil {
		t.Fatal(err)
	}
	b.machine.panics = true
	b.gate.Wake(policy.Never)
	b.does()
	if s := b.gate.Status(&Around{}); s.State != control.Closed || s.Because == control.BecauseWaiting ||
		s.Fault != "a fault" || s.Faults != 1 {
		t.Errorf("the status says %+v", s)
	}
	if r := <-caller.Ended(); !r.NotExecuted || b.fleet.withdrawn != 0 {
		t.Errorf("the caller is told %+v; withdrawn %d times", r, b.fleet.withdrawn)
	}
	for !run.isStopped() { // it may not have heard of its start
		continue
	}
	run.done <- hook.Result{Stopped: true, Err: errors.New("stopped")}
	b.completes()
	if b.fleet.withdrawn != 1 || b.gate.TakesPart() {
		t.Errorf("withdrawn %d times; takes part: %v", b.fleet.withdrawn, b.gate.TakesPart())
	}
}

// A directive of an operator of this host reaches the machine, and the resulting directive is announced to all, with
// its giver and reason.
func TestADirectiveIsToldToAllWithItsReason(t *testing.T) {
	b := newBench(t, nil)
	b.gate.GiveDirective(wire.ForEver, "alice@a", &control.Directive{Pause: true, Reason: "repairs"})
	if len(b.fleet.notified) != 1 || b.fleet.notified[0] != "alice@a: repairs" {
		t.Errorf("told: %q", b.fleet.notified)
	}
	if s := b.gate.Status(&Around{}); s.Paused == nil || s.Paused.By != "alice@a" ||
		s.Because != control.BecausePaused {
		t.Errorf("the status says %+v, because of %q", s.Paused, s.Because)
	}
}

// A message that comes in, and one that goes out for it: the shell of a gate adds no garbage to either.
func TestAMessageInAndOutDoesNotAllocate(t *testing.T) {
	b := newBench(t, nil)
	b.fleet.members = []Peer{{ID: wire.MemberID{1}, Name: "a"}, {ID: wire.MemberID{2}, Name: "b"}}
	b.fleet.forgets, b.machine.again = true, true
	b.machine.next = []policy.Effect{{Kind: policy.Send, Msg: wire.Message{To: wire.MemberID{2}}}}
	m := &wire.Message{From: wire.MemberID{2}}
	if n := testing.AllocsPerRun(1000, func() {
		if b.gate.Expects(m) {
			b.gate.Receive(m)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The ready check runs when the hook is due. After a no the machine hears that the host is not ready, and after a yes
// that it is.
func TestTheMachineIsReadyAfterAYes(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Ready, c.ReadyTimeout, c.ReadyAgain = []string{"needed"}, time.Minute, time.Nanosecond
	})
	b.machine.due = true
	for exit, want := range map[int]control.Answer{75: control.AnswerNo, 0: control.AnswerYes, 3: control.AnswerError} {
		b.gate.Wake(b.gate.env.Clock.Now().Time)
		question := <-b.starts
		if !question.spec.Question || question.spec.Argv[0] != "needed" {
			t.Fatalf("asked: %+v", question.spec)
		}
		b.machine.due = false
		end := hook.Result{Exit: exit}
		if exit > 0 {
			end.Err = fmt.Errorf("exit status %d", exit)
		}
		question.done <- end
		b.completes()
		s := b.gate.Status(&Around{}).Ready
		if s.Answer != want || s.Counts != (exit == 0) || b.machine.ready != (exit == 0) {
			t.Errorf("after exit %d: %+v; the machine is ready: %v", exit, s, b.machine.ready)
		}
		b.gate.asking.Used()
		b.machine.due = true
	}
}

// A grant that serves a demand runs the command of the first caller, and tells the caller its result.
func TestAGrantRunsTheCommandOfTheFirstCaller(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Hook = nil })
	b.wantEvents(policy.Started)
	start := func(spec hook.Spec, _ time.Time) (HookRun, error) { return b.start(spec) }
	first := NewCaller(control.ExecRequest{Command: "first"}, start)
	second := NewCaller(control.ExecRequest{Command: "second"}, start)
	for _, c := range []*Caller{first, second} {
		if err := b.gate.Enqueue(c); err != nil {
			t.Fatal(err)
		}
	}
	b.wantEvents(policy.Wanted)
	b.does(b.run())
	run := <-b.starts
	if run.spec.Argv[0] != "first" {
		t.Errorf("it runs %q", run.spec.Argv)
	}
	b.gate.Withdraw(second)
	if r := <-second.Ended(); !r.NotExecuted {
		t.Errorf("the second is told %+v", r)
	}
	run.done <- hook.Result{Exit: 4, Err: errors.New("exit status 4")}
	b.completes()
	if r := <-first.Ended(); r.Exit != 4 {
		t.Errorf("the first is told %+v", r)
	}
	if s := b.gate.Status(&Around{}); s.Commands != 1 || s.Runs != 0 || s.LastCommand.Exit != "exit status 4" ||
		len(s.Callers) != 0 {
		t.Errorf("the status says %+v", s)
	}
}
