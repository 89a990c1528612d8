package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/wire"
)

// waiting starts two members, one of which runs, so that the other one, which is due, waits for the token. It returns
// the one that waits.
func (w *world) waiting() (name string) {
	w.takes = 50 * time.Minute
	w.start("a", AloneWait)
	w.start("b", AloneWait)
	if w.untilStarts(2*time.Hour) == "a" {
		return "b"
	}
	return "a"
}

// "due, for 9m (3.4 laps)" does not include the time in which the host answered that it needs no run.
func TestAHostThatWaitsCountsFromItsYes(t *testing.T) {
	deep.AtNight(t, "hours of hosts that wait")
	gate := readyGate()
	gate.Op, gate.HookTimeout, gate.MinInterval = time.Minute, time.Hour, 2*time.Hour
	inWorld(t, gate, func(w *world) {
		w.says["a"], w.says["b"] = answer{exit: 75}, answer{exit: 75}
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(3 * time.Hour)
		w.takes = 50 * time.Minute
		w.saysOf("a", answer{})
		w.until("a runs", 20*time.Minute, func() bool { return gateOf(t, w, "a").Running })
		begun := time.Now()
		w.saysOf("b", answer{})
		w.until("b waits for the token", 20*time.Minute, func() bool {
			return w.because("b") == control.BecauseWaiting
		})
		if since := gateOf(t, w, "b").DueSince; since.Before(begun) || since.After(begun.Add(20*time.Minute)) {
			t.Errorf("it has been waiting since %s, and needs a run since %s at the earliest", since, begun)
		}
		time.Sleep(15 * time.Minute) // its ready check runs again, and the answer is yes again
		if g := gateOf(t, w, "b"); g.Because != control.BecauseWaiting || g.DueSince.After(begun.Add(20*time.Minute)) {
			t.Errorf("after the second yes it has been waiting since %s, %s", g.DueSince, g.Because)
		}
	})
}

// Nor does it include the time in which the gate was paused.
func TestAHostThatWaitsCountsFromTheEndOfAPause(t *testing.T) {
	gate := testGate()
	gate.HookTimeout = time.Hour
	inWorld(t, gate, func(w *world) {
		other := w.waiting()
		time.Sleep(5 * time.Minute)
		w.pause(other, 10*time.Minute)
		time.Sleep(11 * time.Minute)
		if g := gateOf(t, w, other); g.Because != control.BecauseWaiting ||
			time.Since(g.DueSince).Round(time.Minute) != time.Minute {
			t.Errorf("since %s, because of %s", g.DueSince, g.Because)
		}
	})
}

// because asks an agent for the reason why its gate does not run.
func (w *world) because(name string) control.Because {
	s := read(w, func() *Agent { return w.agents[name].Agent })
	status, err := source{s}.Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return status.Gates[0].Because
}

// Real agents give these reasons: alone; with another secret; not due; waiting; a disk that hangs.
func TestRealAgentsReportWhyTheyDoNotRun(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startJoining("a", AloneWait)
		w.until("a is alone", time.Minute, func() bool { return w.because("a") == control.BecauseAlone })
		w.agents["b"].ownSecret = &wire.Secret{9}
		w.startJoining("b", AloneWait, "a")
		w.until("b has another secret", 5*time.Minute, func() bool {
			return w.because("b") == control.BecauseOtherSecret || w.because("a") == control.BecauseOtherSecret
		})
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		w.startJoining("c", AloneWait, "a")
		var seen []control.Because
		w.until("they wait, and are not due after a run", 10*time.Minute, func() bool {
			seen = append(seen, w.because("a"), w.because("c"))
			return slices.Contains(seen, control.BecauseWaiting) && slices.Contains(seen, control.BecauseNotDue)
		})
		w.set(func() { w.saves["a"], w.saves["c"] = 20*time.Second, 20*time.Second })
		w.until("a disk hangs", 10*time.Minute, func() bool {
			return w.because("a") == control.BecauseDisk || w.because("c") == control.BecauseDisk
		})
		w.set(func() { clear(w.saves) })
	})
}
