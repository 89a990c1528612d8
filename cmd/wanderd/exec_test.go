package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

func TestACallerIsToldWhoHasTheTokenAndHowManyWait(t *testing.T) {
	runs := control.Caller{PID: 7, Command: "rsync", Running: true}
	for want, g := range map[string]control.Gate{
		"gate g: rsync (7) runs on this host": {
			Callers: []control.Caller{runs, {PID: 5}}, Running: true,
		},
		"gate g: rsync (7) runs on this host; 2 wait on this host, 1 of them before this one": {
			Callers: []control.Caller{runs, {PID: 8}, {PID: 5}},
		},
		"gate g: the hook runs on this host": {
			Running: true,
			Callers: []control.Caller{{PID: 5}},
		},
		"gate g: the token is here": {Whereabouts: control.Whereabouts{Holding: true}},
		"gate g: m2 has the token":  {Whereabouts: control.Whereabouts{HolderName: "m2"}},
		"gate g: the token was last passed to m2": {
			Whereabouts: control.Whereabouts{HolderName: "m2", HolderSince: noon()},
		},
		"gate g: is paused on all hosts until somebody resumes it, by m2 at 12:00:00: repairs": {
			Paused:      &control.Pause{By: "m2", Since: noon(), Reason: "repairs"},
			Whereabouts: control.Whereabouts{HolderName: "m3"},
		},
		"gate g: the token is elsewhere": {
			NotRunning: "nobody here waits for a run", Because: control.BecauseUnwanted,
		},
		"gate g: no majority: sees a, misses b, c": {
			NotRunning: "no majority: sees a, misses b, c", Because: control.BecauseNoMajority,
		},
		"gate g: no majority: sees a": {
			NotRunning: "no majority: sees a", Because: control.BecauseNoMajority,
			Whereabouts: control.Whereabouts{HolderName: "m2"},
		},
		"gate g: waits for its roster: b was never seen": {
			State: control.Agreeing, NotRunning: "waits for its roster: b was never seen",
			Because:     control.BecauseNoMajority,
			Whereabouts: control.Whereabouts{Holding: true},
		},
		"gate g: \ufffd has the token; 3 wait on this host, 2 of them before this one": {
			Whereabouts: control.Whereabouts{HolderName: "\x1b"},
			Callers:     []control.Caller{{PID: 1}, {PID: 2}, {PID: 5}},
		},
	} {
		g.Name = "g"
		if got := waitingFor(&g, 5, noon()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A caller that does not wait (--nonblock) is told why it does not get the gate, and not why the hook does not run.
func TestACallerIsNotToldWhyTheHookDoesNotRun(t *testing.T) {
	here := control.Whereabouts{Holding: true}
	for want, list := range map[string][]control.Gate{
		"the token is elsewhere": {
			{NotRunning: "ran less than min_interval ago", Because: control.BecauseNotDue},
			{NotRunning: "nobody here waits for a run", Because: control.BecauseUnwanted},
			{NotRunning: "ready said 75: not needed now", Because: control.BecauseNotReady},
		},
		"outside its windows": {{NotRunning: "outside its windows", Because: control.BecauseWindow, Whereabouts: here}},
		"ran less than min_interval ago": {{
			NotRunning: "ran less than min_interval ago", Because: control.BecauseNotDue, Whereabouts: here,
			Callers: []control.Caller{{PID: 5}},
		}},
	} {
		for _, g := range list {
			g.Name = "g"
			if got := waitingFor(&g, 5, noon()); got != "gate g: "+want {
				t.Errorf("%s: %q, want %q", g.Because, got, want)
			}
		}
	}
}

func TestStatusListsCallers(t *testing.T) {
	src := busy()
	src.status.Gates[0].Callers = []control.Caller{
		{PID: 7, Command: "rsync", Since: noon().Add(-time.Hour), Running: true, RunningSince: noon().
			Add(-time.Minute)},
		{PID: 8, Command: "tar", Since: noon().Add(-5 * time.Second)},
	}
	text := ask(t, src, "status")
	for _, want := range []string{
		"\n  command      rsync (7), running for 1m (since 11:59:00)\n",
		"\n  caller       tar (8), waiting for 5s (since 11:59:55)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}
