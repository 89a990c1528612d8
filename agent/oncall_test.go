package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/wander"
)

// inCallWorld runs a scenario with a gate on call without a hook, whose token is at host a.
func inCallWorld(t *testing.T, scenario func(w *world)) {
	t.Helper()
	g := onDemand()
	g.onCall = true
	inWorld(t, g, func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		w.commandOn("a")
		if h := w.holders(); len(h) != 1 || h[0] != "a" {
			t.Fatalf("the token is at %s", h)
		}
		scenario(w)
	})
}

// waits runs a command on a host that must be granted within some time.
func (w *world) waits(host string, most time.Duration) {
	w.t.Helper()
	if waited := w.commandOn(host); waited > most {
		w.t.Errorf("%s waited for %v, want %v at most", host, waited, most)
	}
}

// In a quiet fleet each host is granted the gate within some round trips (2 ms each), whoever has the token.
func TestInAQuietFleetOnCallNobodyWaits(t *testing.T) {
	inCallWorld(t, func(w *world) {
		for range 3 {
			for _, host := range w.names() {
				w.waits(host, 20*time.Millisecond)
				time.Sleep(time.Minute)
			}
		}
		if d := w.overlap(time.Time{}); d != 0 {
			t.Errorf("two at once for %v", d)
		}
	})
}

// A host that leaves passes the token on first; one that loses its power keeps nobody waiting for long.
func TestAHolderOnCallThatGoesDelaysTheNextCallerLittle(t *testing.T) {
	inCallWorld(t, func(w *world) {
		if err := w.leave("a"); err != nil {
			t.Error(err)
		}
		w.waits("b", 100*time.Millisecond)
		w.crash("b") // at rest
		w.waits("c", 2*time.Second)
		ended := make(chan asked, 1)
		w.exec(context.Background(), "d", "long", ended)
		w.until("it runs", time.Minute, func() bool { return w.agents["d"].isRunning(w) })
		begun := time.Now()
		w.crash("d") // in a run, whose guard speaks for it
		<-ended
		w.waits("e", 3*time.Second)
		if d := w.overlap(begun); d != 0 {
			t.Errorf("two at once for %v", d)
		}
		w.start("a", AloneWait)
		time.Sleep(10 * time.Second)
		w.waits("a", 100*time.Millisecond)
		if n := w.tokens(time.Time{}); n != 1 {
			t.Errorf("%d tokens", n)
		}
	})
}

// A holder that was suspended while others went on gives way: it does not run with what it remembers.
func TestAHolderOnCallThatWasSuspendedAsksFirst(t *testing.T) {
	inCallWorld(t, func(w *world) {
		since := time.Now()
		w.set(func() { w.agents["a"].asleep += time.Hour })
		w.waits("a", 3*time.Second)
		w.waits("b", 3*time.Second)
		if d := w.overlap(since); d != 0 {
			t.Errorf("two at once for %v", d)
		}
		time.Sleep(10 * time.Second)
		if h := w.holders(); len(h) != 1 {
			t.Errorf("tokens are at %s", h)
		}
	})
}

// A disk that is slow delays the runs of its host, and of nobody else.
func TestASlowDiskOnCallDelaysItsOwnHostOnly(t *testing.T) {
	inCallWorld(t, func(w *world) {
		w.slowDisk(5 * time.Second)
		ended := make(chan asked, 1)
		w.exec(context.Background(), "a", "late", ended)
		time.Sleep(20 * time.Second)
		select {
		case r := <-ended:
			t.Errorf("it ran: %+v", r)
		default:
		}
		for range 5 {
			for _, host := range []string{"b", "c", "d", "e"} {
				w.waits(host, 3*time.Second)
			}
		}
		if w.count(call.NoteDenied, time.Time{}) == 0 {
			t.Error("no run was denied")
		}
		w.slowDisk(0)
		if r := <-ended; r.err != nil || r.Err != nil {
			t.Errorf("%+v", r)
		}
		if d := w.overlap(time.Time{}); d != 0 {
			t.Errorf("two at once for %v", d)
		}
	})
}

// While a gate is paused its callers wait; when it is resumed, they are served one after the other.
func TestCallersOfAPausedGateOnCallAreServedWhenItIsResumed(t *testing.T) {
	inCallWorld(t, func(w *world) {
		w.pause("b", 0)
		w.allObey(true)
		ended := make(chan asked, 10)
		begun := time.Now()
		for _, host := range w.names() {
			w.exec(context.Background(), host, host+"1", ended)
			w.exec(context.Background(), host, host+"2", ended)
		}
		time.Sleep(10 * time.Minute)
		if n := len(w.runs(begun)); n != 0 {
			t.Fatalf("%d runs in a pause", n)
		}
		w.giveDirective("c", control.Directive{})
		resumed := time.Now()
		for range 10 {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		if took := time.Since(resumed); took > 50*time.Second {
			t.Errorf("ten runs of 4 s took %v", took)
		}
		if d := w.overlap(begun); d != 0 {
			t.Errorf("two at once for %v", d)
		}
	})
}

// A gate on call with a hook runs it on every host, at most once in min_interval, and takes commands beside.
func TestAHookOnCallRunsOnEveryHost(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	g := testGate()
	g.onCall, g.Backups, g.MinInterval = true, 2, 2*time.Minute
	inWorld(t, g, func(w *world) {
		w.startAll()
		time.Sleep(21 * time.Minute)
		last, runs := map[string]time.Time{}, map[string]int{}
		for _, r := range w.runs(time.Time{}) {
			if before, ran := last[r.Name]; ran && r.At.Sub(before) < g.MinInterval {
				t.Errorf("%s runs after %v", r.Name, r.At.Sub(before))
			}
			last[r.Name] = r.At
			runs[r.Name]++
		}
		for _, host := range w.names() {
			if n := runs[host]; n < 9 || n > 11 {
				t.Errorf("%s has run %d times", host, n)
			}
		}
		begun := time.Now()
		for range 3 {
			for _, host := range w.names() {
				w.waits(host, 30*time.Second)
			}
		}
		if d := w.overlap(time.Time{}); d != 0 {
			t.Errorf("two at once for %v", d)
		}
		time.Sleep(5 * time.Minute)
		if n, most := len(w.runs(begun)), 15+5*4; n < 15+5*2 || n > most+5 {
			t.Errorf("%d runs of commands and hooks", n)
		}
	})
}

// A fleet on call that is restarted as a whole goes on, also one whose state is lost.
func TestAFleetOnCallThatWasRestartedServesItsCallers(t *testing.T) {
	inCallWorld(t, func(w *world) {
		for _, gracefully := range []bool{true, false} {
			w.stopAll(gracefully)
			time.Sleep(time.Minute)
			restart := time.Now()
			w.startAll()
			time.Sleep(10 * time.Second)
			w.waits("c", 10*time.Second)
			for _, host := range w.names() {
				w.waits(host, 100*time.Millisecond)
			}
			if d := w.overlap(restart); d != 0 || w.tokens(restart) > 1 {
				t.Errorf("two at once for %v, and %d tokens", d, w.tokens(restart))
			}
		}
	})
}

// A gate on call obeys its window and the host's ready check.
func TestAGateOnCallObeysItsWindow(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	g := windowGate(t, "00:30-00:40")
	g.onCall, g.Hook, g.Backups, g.MinInterval = true, nil, 2, 0
	inWorld(t, g, func(w *world) {
		begun := time.Now()
		w.startAll()
		time.Sleep(10 * time.Minute)
		ended := make(chan asked, 5)
		for _, host := range w.names() {
			w.exec(context.Background(), host, host, ended)
		}
		for range 5 {
			if r := <-ended; r.err != nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		for _, r := range w.runs(begun) {
			if at := r.At.Sub(begun); at < 30*time.Minute || at > 31*time.Minute {
				t.Errorf("%s runs at %v", r.Name, at)
			}
		}
	})
}

// A hook on call runs on the hosts that need it.
func TestAHookOnCallAsksWhetherItsHostIsReady(t *testing.T) {
	g := readyGate()
	g.onCall, g.Backups = true, 2
	inWorld(t, g, func(w *world) {
		for _, host := range w.names() {
			w.saysOf(host, answer{exit: 75})
		}
		w.saysOf("b", answer{})
		w.startAll()
		time.Sleep(30 * time.Minute)
		for _, r := range w.runs(time.Time{}) {
			if r.Name != "b" {
				t.Errorf("%s runs, and does not need it", r.Name)
			}
		}
		w.saysOf("d", answer{})
		w.until("d runs", 15*time.Minute, func() bool { return w.agents["d"].isRunning(w) })
	})
}

// Of five hosts two fifths may run at once, of two hosts one: a minute after the members have changed.
func TestAShareOfTheMembersRunsAtOnce(t *testing.T) {
	for _, onCall := range []bool{true, false} {
		t.Run(fmt.Sprintf("on call: %v", onCall), func(t *testing.T) { testShare(t, onCall) })
	}
}

func testShare(t *testing.T, onCall bool) {
	g := onDemand()
	g.onCall, g.SlotsShare = onCall, 40
	g.Walk = wander.Shuffle // In a sweep those that wait may be in the part of one token.
	inWorld(t, g, func(w *world) {
		w.takes = 12 * time.Second
		w.startAll()
		atOnce := func(slots int, hosts ...string) {
			t.Helper()
			ended, begun := make(chan asked, len(hosts)), time.Now()
			for _, host := range hosts {
				w.exec(context.Background(), host, "on "+host, ended)
			}
			time.Sleep(10 * time.Second)
			if n := len(w.runs(begun)); n != slots {
				t.Errorf("%d of %v run at once, want %d", n, hosts, slots)
			}
			for range hosts {
				if r := <-ended; r.err != nil || r.Err != nil {
					t.Errorf("%s: %+v, %v", r.name, r.Result, r.err)
				}
			}
			if s := gateOf(t, w, "a"); s.Slots != slots || s.SlotsShare != 40 {
				t.Errorf("a says %d slots, %d %%", s.Slots, s.SlotsShare)
			}
		}
		time.Sleep(20 * time.Second)
		atOnce(1, "a", "b")
		time.Sleep(time.Minute)
		atOnce(2, "a", "b", "c")
		for _, host := range []string{"c", "d", "e"} {
			if err := w.leave(host); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(2 * time.Minute)
		atOnce(1, "a", "b")
	})
}
