package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
)

// noon plus an hour, at which a scenario begins, is 23:13:20 in UTC.
const untilMidnight = 46*time.Minute + 40*time.Second

// windowed starts a member of a sweep with windows, in a fleet of five that has a token.
func windowed(t *testing.T, change func(*wander.Config), texts ...string) *scenario {
	t.Helper()
	cfg := config()
	cfg.Walk, cfg.MaxInterval = wander.Sweep, 24*time.Hour
	var windows window.Set
	for _, text := range texts {
		w, err := window.Parse(text, func(string) (*time.Location, error) { return time.UTC, nil })
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, w)
	}
	cfg.Windows = windows
	if change != nil {
		change(&cfg)
	}
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

func TestAMemberIsDueInAWindowOnly(t *testing.T) {
	s := windowed(t, nil, "00:00-06:00")
	s.wantDueIn(untilMidnight, pace.WhyClosed)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.advance(skip)
	s.ack()
	s.advance(untilMidnight - skip)
	s.wantDueIn(0, wander.WhyNoToken)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestAMemberThatIsDueWhenItsWindowHasClosedWaitsForTheNextOne(t *testing.T) {
	s := windowed(t, nil, "23:00-23:15", "04:00-05:00")
	s.ran(born(1, 10))
	s.advance(minInterval)
	s.wantDueIn(untilMidnight+4*time.Hour-op-minInterval, pace.WhyClosed)
}

// "Nobody ever holds and waits for a window", except for a lap of skips, as for min_interval.
func TestATokenWaitsForAWindowThatOpensWithinALapOfSkipsAndNoLonger(t *testing.T) {
	s := windowed(t, nil, "00:00-06:00")
	s.advance(untilMidnight - 6*skip)
	s.arrive(born(1, 10), 1)
	s.advance(skip)
	s.ack()
	s.arrive(born(1, 10), 1)
	s.advance(5 * skip)
	s.wantRuns(1)
}

func TestATokenDoesNotWaitForAMemberWhoseWindowClosesBeforeItIsDue(t *testing.T) {
	s := windowed(t, nil, "23:00-23:23") // min_interval ends at 23:23:20
	s.ran(born(1, 10))
	s.advance(minInterval - op - 2*skip)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.advance(skip)
	s.wantState("offering")
}

func TestOutsideItsWindowsACallerWaitsToo(t *testing.T) {
	for _, onDemand := range []bool{true, false} {
		s := windowed(t, func(cfg *wander.Config) { cfg.OnDemand = onDemand }, "00:00-06:00")
		s.wanted()
		s.wantDueIn(untilMidnight, pace.WhyClosed)
		s.arrive(born(1, 10), 1)
		s.wantState("resting")
		s.wantRuns(0)
	}
}

func TestAMemberThatIsAloneWaitsForItsWindowWithTheToken(t *testing.T) {
	s := windowed(t, nil, "00:00-06:00")
	s.arrive(born(1, 10), 1)
	s.view(3)
	s.advance(untilMidnight - time.Second)
	s.wantRuns(0)
	s.advance(time.Second)
	s.wantRuns(1)
}

func TestWindowsGoByTheWallClockAlsoIfItIsSet(t *testing.T) {
	s := windowed(t, nil, "00:00-06:00")
	s.now.Wall += int64(untilMidnight)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestFactsSayWhenWindowsOpenAndClose(t *testing.T) {
	at := func(s *scenario, key policy.Key) time.Duration {
		for _, f := range s.m.Facts(s.now.Time, nil) {
			if f.Key == key {
				return f.At.Sub(s.now.Time)
			}
		}
		return -1
	}
	s := windowed(t, nil, "00:00-06:00")
	if opens, closes := at(s, policy.KeyWindowOpens), at(s, policy.KeyWindowCloses); opens != untilMidnight ||
		closes != -1 {
		t.Errorf("before midnight it opens in %v and closes in %v", opens, closes)
	}
	s.advance(untilMidnight)
	if opens, closes := at(s, policy.KeyWindowOpens), at(s, policy.KeyWindowCloses); opens != -1 ||
		closes != 6*time.Hour {
		t.Errorf("at midnight it opens in %v and closes in %v", opens, closes)
	}
}

// A window may close while the others are asked.
func TestAWindowThatClosesWhileOthersAreAskedPreventsTheRun(t *testing.T) {
	s := windowed(t, func(cfg *wander.Config) { cfg.AskBeforeRun = true }, "00:00-06:00")
	s.advance(untilMidnight + 6*time.Hour - timeout/4)
	s.arrive(born(1, 10), 1)
	s.wantState("asking")
	s.advance(timeout / 2)
	s.wantState("resting")
	s.wantRuns(0)
}
