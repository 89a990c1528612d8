package agent

import (
	"context"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy/wander"
)

// stopAll stops all agents, one after the other or with the power.
func (w *world) stopAll(gracefully bool) {
	w.t.Helper()
	for _, name := range w.names() {
		if !gracefully {
			w.crash(name)
		} else if err := w.leave(name); err != nil {
			w.t.Error(err)
		}
	}
}

// A fleet whose agents are all stopped and started goes on: its first token stays, and a caller that wants a run need
// not wait for max_interval.
func TestAFleetThatWasRestartedRunsWithinSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		gracefully bool
		// starts are when the agents start; one without a time never comes back.
		starts map[string]time.Duration
	}{
		"stopped":                   {true, map[string]time.Duration{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0}},
		"killed":                    {false, map[string]time.Duration{"a": 0, "b": 0, "c": 0, "d": 0, "e": 0}},
		"killed, and two stay away": {false, map[string]time.Duration{"a": 0, "c": 0, "e": 0}},
		"killed, and started in waves": {false, map[string]time.Duration{
			"b": 0, "d": time.Second, "e": 40 * time.Second, "a": 41 * time.Second, "c": 90 * time.Second,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.MinInterval = 24 * time.Hour
			gate.Walk = wander.Sweep // a random walk has no bound
			inWorld(t, gate, func(w *world) {
				w.startAll()
				w.until("all have run", 2*time.Minute, func() bool {
					return len(w.runs(time.Time{})) == len(w.names())
				})
				time.Sleep(10 * time.Second)
				w.stopAll(c.gracefully)
				time.Sleep(time.Minute)
				restart := time.Now()
				last := time.Duration(0)
				for _, name := range w.names() {
					if at, comes := c.starts[name]; comes {
						last = max(last, at)
						time.AfterFunc(at, func() { w.startJoining(name, AloneAuto) })
					}
				}
				time.Sleep(last + 15*time.Second)
				if n := w.count(wander.NoteCreated, restart); n != 1 {
					t.Errorf("%d first tokens", n)
				}
				for name := range c.starts {
					begun := time.Now()
					ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
					end, err := source{w.agents[name].Agent}.RunNow(ctx, control.RunNow{Wait: true})
					cancel()
					if took := time.Since(begun); err != nil || end.Exit != 0 || took > 30*time.Second {
						t.Errorf("%s: a run by hand took %v: %+v, %v", name, took, end, err)
					}
				}
				if n := w.tokens(restart); n != 1 {
					t.Errorf("%d tokens after the restart", n)
				}
			})
		})
	}
}
