package agent

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// tell takes an event of a host.
func (w *world) tell(r *resident, spec hook.Spec) gate.HookRun {
	p := &pretendRun{stop: make(chan struct{}), done: make(chan hook.Result, 1)}
	var e events.Event
	err := json.Unmarshal(spec.Input, &e)
	w.set(func() {
		if w.refuses {
			p.done <- hook.Result{Exit: 75, Err: errors.New("exit status 75")}
			return
		}
		w.told[r.cfg.Name] = append(w.told[r.cfg.Name], e)
		p.done <- hook.Result{Err: err}
	})
	return p
}

// inTellingWorld runs a test in which hosts tell of events.
func inTellingWorld(t *testing.T, gate soft, scenario func(w *world)) {
	t.Helper()
	inWorld(t, gate, func(w *world) {
		w.events = events.Config{Command: []string{"tell"}, Timeout: time.Minute}
		w.told = make(map[string][]events.Event)
		scenario(w)
	})
}

// toldOf returns the events of one kind that a host has told.
func (w *world) toldOf(name string, kind events.Kind) []events.Event {
	all := read(w, func() []events.Event { return slices.Clone(w.told[name]) })
	return slices.DeleteFunc(all, func(e events.Event) bool { return e.Kind != kind })
}

func (w *world) untilTold(name string, kind events.Kind) events.Event {
	w.t.Helper()
	w.until(name+" tells of "+string(kind), 10*time.Minute, func() bool { return len(w.toldOf(name, kind)) > 0 })
	return w.toldOf(name, kind)[0]
}

func TestRunsAreTold(t *testing.T) {
	inTellingWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		began, ended := w.untilTold("a", events.Started), w.untilTold("a", events.Ended)
		if began.Seq != ended.Seq || began.Seq == 0 || began.Token == "" || began.ID == ended.ID ||
			*ended.Exit != 0 || ended.Took != 4 || ended.Host != "a" || ended.Gate != "default" {
			t.Errorf("%+v, %+v", began, ended)
		}
		w.set(func() { w.result = hook.Result{Exit: 3, Err: errors.New("exit status 3")} })
		if failed := w.untilTold("a", events.Failed); *failed.Exit != 3 || failed.Error != "exit status 3" {
			t.Errorf("%+v", failed)
		}
	})
}

// All hosts tell of a pause, and give it one identity. A restart does not tell of it again.
func TestAPauseIsToldByAllHostsUnderOneIdentity(t *testing.T) {
	inTellingWorld(t, testGate(), func(w *world) {
		w.startAll()
		w.untilStarts(time.Minute)
		directive := control.Directive{Pause: true, User: "root", Reason: "disks"}
		w.giveDirective("a", directive)
		first := w.untilTold("a", events.Paused)
		if first.By != "alice@a" || first.Reason != "disks" {
			t.Errorf("%+v", first)
		}
		for _, name := range w.names() {
			if e := w.untilTold(name, events.Paused); e.ID != first.ID || e.Host != name {
				t.Errorf("%s tells %+v", name, e)
			}
		}
		w.crash("b")
		w.start("b", AloneWait)
		time.Sleep(time.Minute)
		for _, name := range w.names() {
			if n := len(w.toldOf(name, events.Paused)); n != 1 {
				t.Errorf("%s has told of it %d times", name, n)
			}
		}
		w.giveDirective("c", control.Directive{User: "root"})
		resumed := w.untilTold("b", events.Resumed)
		if again := w.untilTold("c", events.Resumed); again.ID != resumed.ID || again.ID == first.ID {
			t.Errorf("%+v, %+v", resumed, again)
		}
	})
}

func TestAPauseOfOneHostIsToldThere(t *testing.T) {
	inTellingWorld(t, testGate(), func(w *world) {
		w.startAll()
		w.untilStarts(time.Minute)
		w.giveDirective("a", control.Directive{Pause: true, Here: true, For: control.Duration(time.Hour)})
		if e := w.untilTold("a", events.Paused); !e.Here || e.Until.IsZero() {
			t.Errorf("%+v", e)
		}
		time.Sleep(time.Minute)
		if list := w.toldOf("b", events.Paused); len(list) > 0 {
			t.Errorf("b tells %+v", list)
		}
	})
}

func TestTheBrakeIsTold(t *testing.T) {
	g := testGate()
	g.StopAfter = 2
	inTellingWorld(t, g, func(w *world) {
		w.result = hook.Result{Exit: 3, Err: errors.New("exit status 3")}
		w.startAll()
		braked := func() (all []events.Event) {
			for _, name := range w.names() {
				all = append(all, w.toldOf(name, events.Braked)...)
			}
			return all
		}
		w.until("the brake is told", 10*time.Minute, func() bool { return len(braked()) > 0 })
		time.Sleep(time.Minute)
		for _, e := range braked() {
			if !strings.HasPrefix(e.By, "stop_after@") || e.Reason == "" || e.ID != braked()[0].ID {
				t.Errorf("%+v", e)
			}
		}
	})
}

// The guardian that revives a token tells of it, and the next life of the agent that died tells of its run.
func TestWhatADeadHostLeavesIsTold(t *testing.T) {
	g := testGate()
	g.Backups = 2
	inTellingWorld(t, g, func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		first := w.untilStarts(time.Minute)
		w.until("it is told", time.Minute, func() bool { return len(w.toldOf(first, events.Started)) > 0 })
		time.Sleep(time.Second)
		w.set(func() { w.agents[first].hook = nil }) // a power cut: no guard says anything
		w.crash(first)
		revived := func() (all []events.Event) {
			for _, name := range w.names() {
				all = append(all, w.toldOf(name, events.Revived)...)
			}
			return all
		}
		w.until("the token is revived", time.Minute, func() bool { return len(revived()) > 0 })
		if e := revived()[0]; e.Peer != first || e.Host == first || e.Token == "" {
			t.Errorf("%+v", e)
		}
		w.start(first, AloneWait)
		e := w.untilTold(first, events.Failed)
		begun := w.toldOf(first, events.Started)
		if e.Error != "agent died" || e.Seq != begun[len(begun)-1].Seq {
			t.Errorf("%+v", e)
		}
	})
}

// What a dead agent has not delivered, its next life delivers.
func TestEventsSurviveTheAgent(t *testing.T) {
	inTellingWorld(t, testGate(), func(w *world) {
		w.set(func() { w.refuses = true })
		w.start("a", AloneRun)
		time.Sleep(10 * time.Second)
		w.crash("a")
		if n := len(w.toldOf("a", events.Started)); n != 0 {
			t.Fatalf("%d events are told", n)
		}
		w.set(func() { w.refuses = false })
		w.start("a", AloneRun)
		began, ended := w.untilTold("a", events.Started), w.untilTold("a", events.Ended)
		if began.Seq != ended.Seq || len(w.toldOf("a", events.Failed)) > 0 {
			t.Errorf("%+v, %+v", began, ended)
		}
	})
}
