package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Each reason is told in its situation, in words and for programs; and where several hold, the first of the table.
func TestWhyNotMe(t *testing.T) {
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	ago, ahead := now.Add(-9*time.Minute), now.Add(time.Minute)
	told := make(map[control.Because]bool)
	for _, c := range []struct {
		name      string
		situation situation
		gate      control.Gate
		because   control.Because
		words     string
	}{
		{"the machine's words are kept", situation{}, control.Gate{NotRunning: "leaving"}, control.BecauseWaiting, "leaving"},
		{"leaving", situation{leaving: true}, control.Gate{NotRunning: "leaving"}, control.BecauseLeaving, "leaving"},
		{"paused", situation{bar: policy.BarPaused}, control.Gate{NotRunning: "paused", NextRun: ahead}, control.BecausePaused, "paused"},
		{"no majority", situation{bar: policy.BarNoMajority}, control.Gate{NotRunning: "no majority: b and c are missing"}, control.BecauseNoMajority, "no majority: b and c are missing"},
		{"no roster yet", situation{alone: true, otherSecret: "x"}, control.Gate{State: control.Gathering, NotRunning: "c was never seen"}, control.BecauseNoMajority, "c was never seen"},
		{"nobody waits", situation{unwanted: true}, control.Gate{NotRunning: "nobody waits"}, control.BecauseUnwanted, "nobody waits"},
		{"a closed window", situation{}, control.Gate{NotRunning: "outside its windows", NextRun: ahead, Windows: []string{"22:00-06:00"}}, control.BecauseWindow, "outside its windows"},
		{"an open window", situation{}, control.Gate{NotRunning: "ran", NextRun: ahead, Windows: []string{"22:00-06:00"}, WindowOpen: true}, control.BecauseNotDue, "ran"},
		{"not due", situation{}, control.Gate{NotRunning: "ran", NextRun: ahead}, control.BecauseNotDue, "ran"},
		{"the host said no", situation{}, control.Gate{NotRunning: "due", NextRun: ago, Ready: &control.Ready{Answer: control.AnswerNo}}, control.BecauseNotReady, saidNo},
		{"the question fails", situation{}, control.Gate{NotRunning: "due", Ready: &control.Ready{Answer: control.AnswerError, Error: "exit status 3"}}, control.BecauseNotReady, "exit status 3"},
		{"the host is being asked", situation{}, control.Gate{NotRunning: "due", Ready: &control.Ready{AskingSince: ago}}, control.BecauseNotReady, "is being asked"},
		{"the host said yes", situation{}, control.Gate{NotRunning: "due", NextRun: ago, Ready: &control.Ready{Answer: control.AnswerYes, Counts: true}}, control.BecauseWaiting, "due"},
		{"the host said no, not due", situation{}, control.Gate{NotRunning: "ran", NextRun: ahead, Ready: &control.Ready{Answer: control.AnswerNo}}, control.BecauseNotDue, "ran"},
		{"the host said no, and a command waits", situation{called: true}, control.Gate{NotRunning: "due", Ready: &control.Ready{Answer: control.AnswerNo}}, control.BecauseWaiting, "due"},
		{"a broken disk, not due", situation{}, control.Gate{NotRunning: "ran", NextRun: ahead, SaveError: "no space"}, control.BecauseNotDue, "ran"},
		{"a broken disk", situation{}, control.Gate{NextRun: ago, SaveError: "no space"}, control.BecauseDisk, "due, but the start of a run cannot be recorded: no space"},
		{"a disk that hangs", situation{}, control.Gate{SavingSince: ago}, control.BecauseDisk, "due, but the disk is slow"},
		{"a disk at work", situation{}, control.Gate{NotRunning: "due, recording the start", Whereabouts: control.Whereabouts{Holding: true}, SavingSince: now}, "", "due, recording the start"},
		{"another secret", situation{alone: true, otherSecret: "10.0.0.9:7946"}, control.Gate{NotRunning: "alone"}, control.BecauseOtherSecret, "10.0.0.9:7946 seems to have another secret"},
		{"another secret, but a fleet", situation{otherSecret: "10.0.0.9:7946"}, control.Gate{NotRunning: "due"}, control.BecauseWaiting, "due"},
		{"alone", situation{alone: true}, control.Gate{NotRunning: "has not seen any other member yet"}, control.BecauseAlone, "has not seen any other member yet"},
		{"cut off", situation{cutOff: true}, control.Gate{NotRunning: "due", NextRun: ago}, control.BecauseUnreachable, "no other member answers"},
		{"cut off, not due", situation{cutOff: true}, control.Gate{NotRunning: "ran", NextRun: ahead}, control.BecauseNotDue, "ran"},
		{"waiting", situation{}, control.Gate{NotRunning: "due", NextRun: ago}, control.BecauseWaiting, "due"},
		{"passing it on", situation{}, control.Gate{NotRunning: "passing the token on", Whereabouts: control.Whereabouts{Holding: true}}, "", "passing the token on"},
	} {
		c.situation.gate, c.situation.now = &c.gate, now
		c.situation.explain()
		if c.gate.Because != c.because || !strings.Contains(c.gate.NotRunning, c.words) {
			t.Errorf("%s: %q, because of %q; want %q, because of %q", c.name, c.gate.NotRunning, c.gate.Because, c.words, c.because)
		}
		told[c.gate.Because] = true
	}
	for _, code := range []control.Because{
		control.BecauseLeaving, control.BecausePaused, control.BecauseNoMajority, control.BecauseUnwanted, control.BecauseWindow, control.BecauseNotDue,
		control.BecauseNotReady, control.BecauseDisk, control.BecauseOtherSecret, control.BecauseAlone, control.BecauseUnreachable, control.BecauseWaiting,
	} {
		if !told[code] {
			t.Errorf("no test has the reason %s", code)
		}
	}
}

// A gate that waits says since when, and for how many laps: from the last moment at which something else kept it from running.
func TestAGateThatWaitsSaysForHowLong(t *testing.T) {
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	due, started := now.Add(-9*time.Minute), now.Add(-2*time.Hour)
	for _, c := range []struct {
		lap   time.Duration
		since []time.Time
		from  time.Time
		laps  float64
	}{
		{6 * time.Minute, []time.Time{started, due}, due, 1.5},
		{0, []time.Time{started, due}, due, 0},
		{time.Hour, []time.Time{started}, started, 2},
		{6 * time.Minute, []time.Time{started, due, {}, now.Add(-3 * time.Minute)}, now.Add(-3 * time.Minute), 0.5},
	} {
		gate := control.Gate{NotRunning: "due", Lap: control.Duration(c.lap)}
		s := situation{gate: &gate, now: now, since: c.since}
		s.explain()
		if !gate.DueSince.Equal(c.from) || gate.LapsWaited != c.laps {
			t.Errorf("since %v, %v laps; want %v, %v", gate.DueSince, gate.LapsWaited, c.from, c.laps)
		}
	}
}

// waiting starts two members of which one runs, so that the other one, which is due, waits for the token. It returns the latter.
func (w *world) waiting() (name string) {
	w.takes = 50 * time.Minute
	w.start("a", AloneWait)
	w.start("b", AloneWait)
	if w.untilStarts(2*time.Hour) == "a" {
		return "b"
	}
	return "a"
}

// "due, for 9m (3.4 laps)" does not count the time in which the host said that it needs no run.
func TestAHostThatWaitsCountsFromItsYes(t *testing.T) {
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
		w.until("b waits for the token", 20*time.Minute, func() bool { return w.because("b") == control.BecauseWaiting })
		if since := gateOf(t, w, "b").DueSince; since.Before(begun) || since.After(begun.Add(20*time.Minute)) {
			t.Errorf("it has been waiting since %s, and needs a run since %s at the earliest", since, begun)
		}
		time.Sleep(15 * time.Minute) // it is asked again, and says yes again
		if g := gateOf(t, w, "b"); g.Because != control.BecauseWaiting || g.DueSince.After(begun.Add(20*time.Minute)) {
			t.Errorf("after the second yes it has been waiting since %s, %s", g.DueSince, g.Because)
		}
	})
}

// Nor does it count the time in which the gate was paused.
func TestAHostThatWaitsCountsFromTheEndOfAPause(t *testing.T) {
	gate := testGate()
	gate.HookTimeout = time.Hour
	inWorld(t, gate, func(w *world) {
		other := w.waiting()
		time.Sleep(5 * time.Minute)
		w.pause(other, 10*time.Minute)
		time.Sleep(11 * time.Minute)
		if g := gateOf(t, w, other); g.Because != control.BecauseWaiting || time.Since(g.DueSince).Round(time.Minute) != time.Minute {
			t.Errorf("since %s, because of %s", g.DueSince, g.Because)
		}
	})
}

// because asks an agent why its gate does not run.
func (w *world) because(name string) control.Because {
	s := read(w, func() *Agent { return w.agents[name].Agent })
	status, err := source{s}.Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return status.Gates[0].Because
}

// The reasons as real agents come to them: alone; with another secret; not due; waiting; a disk that hangs.
func TestWhyNotMeOfRealAgents(t *testing.T) {
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
