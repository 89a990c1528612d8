package agent

import (
	"context"
	"testing"
	"time"
)

// A drain begins nothing, and ends nothing: when the agent's run has ended, the agent is gone, and others have the
// token.
func TestADrainWaitsForTheRun(t *testing.T) {
	gate := testGate()
	gate.Op, gate.HookTimeout = 30*time.Second, time.Minute
	inWorld(t, gate, func(w *world) {
		w.startAll()
		first := w.untilRuns(time.Minute)
		time.Sleep(time.Second)
		drained := time.Now()
		if err := (source{w.agents[first].Agent}).Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := (source{w.agents[first].Agent}).Drain(context.Background()); err == nil {
			t.Error("a second drain is none, and is not said to be none")
		}
		if err := <-w.agents[first].ended; err != nil {
			t.Error(err)
		}
		w.agents[first].stop = nil
		if took := time.Since(drained); took < 25*time.Second || took > 35*time.Second {
			t.Errorf("it took %v", took)
		}
		if runs := w.history(first); len(runs) != 1 || runs[0].Failed() || runs[0].Took() != gate.Op {
			t.Errorf("its run: %+v", runs)
		}
		if second := w.untilRuns(time.Minute); second == first {
			t.Errorf("%s runs again", second)
		}
		if n := w.overlap(drained); n > 0 {
			t.Errorf("two at once for %v", n)
		}
	})
}

// "A run cut short by a stop counts as not having happened: due again after the restart"; one that ended by itself does
// not.
func TestARunThatAStopCutsShortIsDueAgain(t *testing.T) {
	gate := testGate()
	gate.Op, gate.HookTimeout, gate.MinInterval = 30*time.Second, time.Minute, time.Hour
	inWorld(t, gate, func(w *world) {
		w.start("a", AloneRun)
		w.untilRuns(time.Minute)
		time.Sleep(time.Second)
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		restarted := time.Now()
		w.start("a", AloneRun)
		w.untilRuns(time.Minute)
		if waited := time.Since(restarted); waited > time.Minute {
			t.Errorf("it runs after %v", waited)
		}
		time.Sleep(gate.Op + time.Second)
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		restarted = time.Now()
		w.start("a", AloneRun)
		time.Sleep(30 * time.Minute)
		if runs := w.runs(restarted); len(runs) > 0 {
			t.Errorf("after a whole run it runs again, within min_interval: %v", runs)
		}
	})
}

// A hook that ends with a reboot of its host is cut short by the shutdown. It must not be due again as soon as the host
// is up, not even after retry_after, or it would reboot its host for ever. The service manager of a container knows of
// the shutdown, but the container's boot is that of its host.
func TestARunThatTheShutdownOfItsHostCutsShortCounts(t *testing.T) {
	for name, c := range map[string]struct{ reboots, known bool }{
		"a reboot": {reboots: true}, "a reboot that is known": {reboots: true, known: true},
		"a container, or a soft reboot": {known: true},
	} {
		t.Run(name, func(t *testing.T) {
			gate := testGate()
			gate.Op, gate.HookTimeout, gate.MinInterval, gate.RetryAfter = 30*time.Second, time.Minute, time.Hour,
				time.Minute
			inWorld(t, gate, func(w *world) {
				w.slowDisk(50 * time.Millisecond) // so the run starts later than its record says at first
				w.start("a", AloneRun)
				w.untilRuns(time.Minute)
				began := time.Now()
				for range 2 { // the second time, the agent stops before anything has been saved
					time.Sleep(time.Second)
					w.set(func() { w.agents["a"].stops = c.known })
					if err := w.leave("a"); err != nil {
						t.Fatal(err)
					}
					w.set(func() {
						r := w.agents["a"]
						r.stops = false
						if c.reboots {
							r.boots, r.bootedAt = r.boots+1, time.Now()
						}
					})
					time.Sleep(time.Minute)
					w.start("a", AloneRun)
				}
				time.Sleep(50 * time.Minute)
				if runs := w.runs(began.Add(time.Second)); len(runs) > 0 {
					t.Errorf("it runs again: %+v", runs)
				}
				w.untilRuns(15 * time.Minute)
			})
		})
	}
}

// The run before one that was cut short still counts, and so does the wait after a failure.
func TestTheRunBeforeOneThatWasCutShortCountsAgain(t *testing.T) {
	gate := testGate()
	gate.Op, gate.HookTimeout, gate.MinInterval = 30*time.Second, time.Minute, time.Hour
	inWorld(t, gate, func(w *world) {
		w.slowDisk(50 * time.Millisecond)
		w.start("a", AloneRun)
		w.untilRuns(time.Minute)
		time.Sleep(gate.MinInterval - time.Minute)
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		w.start("a", AloneRun)
		w.untilRuns(2 * time.Minute)
		runs := w.runs(time.Time{})
		if since := runs[len(runs)-1].At.Sub(runs[0].At); len(runs) != 2 || since < gate.MinInterval {
			t.Errorf("run %d is %v after the first", len(runs), since)
		}
		if err := w.leave("a"); err != nil {
			t.Fatal(err)
		}
		w.start("a", AloneRun)
		w.untilRuns(time.Minute)
	})
}
