package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// Each reason is reported in its situation, in words and for programs; if several hold, the first of the table is.
func TestEachReasonNotToRunIsReported(t *testing.T) {
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
		{
			"the machine's words are kept",
			situation{},
			control.Gate{NotRunning: "leaving"},
			control.BecauseWaiting,
			"leaving",
		},
		{"leaving", situation{leaving: true}, control.Gate{NotRunning: "leaving"}, control.BecauseLeaving, "leaving"},
		{
			"paused",
			situation{bar: policy.BarPaused},
			control.Gate{NotRunning: "paused", NextRun: ahead},
			control.BecausePaused, "paused",
		},
		{"no majority", situation{bar: policy.BarNoMajority}, control.Gate{NotRunning: "no majority: b and c are " +
			"missing"}, control.BecauseNoMajority, "no majority: b and c are missing"},
		{
			"no roster yet",
			situation{alone: true, otherSecret: "x"},
			control.Gate{State: control.Agreeing, NotRunning: "c was never seen"},
			control.BecauseNoMajority,
			"c was never seen",
		},
		{
			"nobody waits",
			situation{unwanted: true},
			control.Gate{NotRunning: "nobody waits"},
			control.BecauseUnwanted,
			"nobody waits",
		},
		{"a closed window", situation{}, control.Gate{
			NotRunning: "outside its windows", NextRun: ahead,
			Windows: []string{"22:00-06:00"},
		}, control.BecauseWindow, "outside its windows"},
		{"an open window", situation{}, control.Gate{
			NotRunning: "ran", NextRun: ahead, Windows: []string{"22:00-06:00"}, WindowOpen: true,
		}, control.BecauseNotDue, "ran"},
		{"not due", situation{}, control.Gate{NotRunning: "ran", NextRun: ahead}, control.BecauseNotDue, "ran"},
		{"the host said no", situation{}, control.Gate{
			NotRunning: "due", NextRun: ago,
			Ready: &control.Ready{Answer: control.AnswerNo},
		}, control.BecauseNotReady, saidNo},
		{
			"the question fails",
			situation{},
			control.Gate{
				NotRunning: "due",
				Ready:      &control.Ready{Answer: control.AnswerError, Error: "exit status 3"},
			},
			control.BecauseNotReady,
			"exit status 3",
		},
		{"the host is being asked", situation{}, control.Gate{
			NotRunning: "due",
			Ready:      &control.Ready{AskingSince: ago},
		}, control.BecauseNotReady, "is being asked"},
		{"the host said yes", situation{}, control.Gate{
			NotRunning: "due", NextRun: ago, Ready: &control.Ready{Answer: control.AnswerYes, Counts: true},
		}, control.BecauseWaiting, "due"},
		{
			"the host said no, not due",
			situation{},
			control.Gate{
				NotRunning: "ran", NextRun: ahead, Ready: &control.Ready{Answer: control.AnswerNo},
			},
			control.BecauseNotDue, "ran",
		},
		{
			"the host said no, and a command waits",
			situation{wanted: true},
			control.Gate{
				NotRunning: "due", Ready: &control.Ready{Answer: control.AnswerNo},
			},
			control.BecauseWaiting, "due",
		},
		{
			"a broken disk, not due",
			situation{},
			control.Gate{NotRunning: "ran", NextRun: ahead, SaveError: "no space"},
			control.BecauseNotDue, "ran",
		},
		{
			"a broken disk",
			situation{},
			control.Gate{NextRun: ago, SaveError: "no space"},
			control.BecauseDisk,
			"due, but the start of a run cannot be recorded: no space",
		},
		{
			"a disk that hangs",
			situation{},
			control.Gate{SavingSince: ago},
			control.BecauseDisk,
			"due, but the disk is slow",
		},
		{"a disk at work", situation{}, control.Gate{
			NotRunning: "due, recording the start", Whereabouts: control.Whereabouts{Holding: true}, SavingSince: now,
		}, "", "due, recording the start"},
		{
			"another secret",
			situation{alone: true, otherSecret: "10.0.0.9:7946"},
			control.Gate{NotRunning: "alone"},
			control.BecauseOtherSecret, "10.0.0.9:7946 seems to have another secret",
		},
		{
			"another secret, but a fleet",
			situation{otherSecret: "10.0.0.9:7946"},
			control.Gate{NotRunning: "due"},
			control.BecauseWaiting, "due",
		},
		{
			"alone",
			situation{alone: true},
			control.Gate{NotRunning: "has not seen any other member yet"},
			control.BecauseAlone, "has not seen any other member yet",
		},
		{
			"cut off",
			situation{cutOff: true},
			control.Gate{NotRunning: "due", NextRun: ago},
			control.BecauseUnreachable,
			"no other member answers",
		},
		{
			"cut off, not due",
			situation{cutOff: true},
			control.Gate{NotRunning: "ran", NextRun: ahead},
			control.BecauseNotDue, "ran",
		},
		{"waiting", situation{}, control.Gate{NotRunning: "due", NextRun: ago}, control.BecauseWaiting, "due"},
		{"passing it on", situation{}, control.Gate{
			NotRunning: "passing the token on", Whereabouts: control.Whereabouts{Holding: true},
		}, "", "passing the token on"},
	} {
		c.situation.gate, c.situation.now = &c.gate, now
		c.situation.explain()
		if c.gate.Because != c.because || !strings.Contains(c.gate.NotRunning, c.words) {
			t.Errorf("%s: %q, because of %q; want %q, because of %q", c.name, c.gate.NotRunning, c.gate.Because,
				c.words, c.because)
		}
		told[c.gate.Because] = true
	}
	for _, code := range []control.Because{
		control.BecauseLeaving, control.BecausePaused, control.BecauseNoMajority, control.BecauseUnwanted,
		control.BecauseWindow, control.BecauseNotDue,
		control.BecauseNotReady, control.BecauseDisk, control.BecauseOtherSecret, control.BecauseAlone,
		control.BecauseUnreachable, control.BecauseWaiting,
	} {
		if !told[code] {
			t.Errorf("no test has the reason %s", code)
		}
	}
}

// A gate that waits reports since when, and for how many laps: from the last moment at which something else kept it
// from running.
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
