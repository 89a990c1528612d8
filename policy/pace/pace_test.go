package pace_test

import (
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/window"
)

const (
	hour  = time.Hour
	began = policy.Time(1000 * hour)
)

func TestTheWaitAfterARunDependsOnItsOutcome(t *testing.T) {
	p := pace.Pace{MinInterval: 10 * hour, RetryAfter: hour}
	ended := began.Add(time.Minute)
	for _, c := range []struct {
		name     string
		before   uint8
		outcome  policy.Outcome
		wait     time.Duration
		failures uint8
		why      string
		interval time.Duration
	}{
		{name: "success", before: 3, outcome: policy.Succeeded, why: pace.WhyTooSoon, interval: 10 * hour},
		{
			name: "not now", before: 3, outcome: policy.NotNow, wait: hour + time.Minute, why: pace.WhyNotNow,
			interval: hour + time.Minute,
		},
		{
			name: "the first failure", outcome: policy.Failed, wait: hour + time.Minute, failures: 1,
			why:      pace.WhyFailed,
			interval: hour + time.Minute,
		},
		{
			name: "the third", before: 2, outcome: policy.Failed, wait: 4*hour + time.Minute, failures: 3,
			why: pace.WhyFailed, interval: 4*hour + time.Minute,
		},
		{
			name: "no later than min_interval", before: 9, outcome: policy.Failed, wait: 10 * hour, failures: 10,
			why: pace.WhyFailed, interval: 10 * hour,
		},
		{
			name: "the count has an end", before: math.MaxUint8, outcome: policy.Failed, wait: 10 * hour,
			failures: math.MaxUint8, why: pace.WhyFailed, interval: 10 * hour,
		},
	} {
		got := p.After(pace.Repeat{Failures: c.before}, began, ended, c.outcome)
		if want := (pace.Repeat{Wait: c.wait, Failures: c.failures}); got != want || got.Why() != c.why ||
			p.Interval(got) != c.interval {
			t.Errorf("%s: %+v, %q, %v", c.name, got, got.Why(), p.Interval(got))
		}
		if got := (pace.Pace{MinInterval: hour}).After(pace.Repeat{}, began, ended, c.outcome); got != (pace.Repeat{}) {
			t.Errorf("%s, without retry_after: %+v", c.name, got)
		}
	}
	if got := (pace.Pace{MinInterval: math.MaxInt64, RetryAfter: math.MaxInt64/2 + 1}).
		After(pace.Repeat{Failures: 5}, began, ended, policy.Failed); got.Wait <= 0 {
		t.Errorf("a wait beyond the range is %v", got.Wait)
	}
}

func TestAnotherPaceShortensAWait(t *testing.T) {
	was := pace.Repeat{Wait: 5 * hour, Failures: 2}
	if got := (pace.Pace{MinInterval: hour, RetryAfter: time.Minute}).Held(was); got.Wait != 0 || got.Failures != 2 {
		t.Errorf("%+v", got)
	}
	if got := (pace.Pace{MinInterval: hour}).Held(was); got.Wait != 0 {
		t.Errorf("without retry_after: %+v", got)
	}
	if got := (pace.Pace{MinInterval: hour, RetryAfter: time.Minute}).Held(pace.Repeat{Wait: -1}); got.Wait != 0 {
		t.Errorf("what no disk should have: %+v", got)
	}
}

func TestACalendarGoesByTheWallClock(t *testing.T) {
	w, err := window.Parse("22:00-06:00", func(string) (*time.Location, error) { return time.UTC, nil })
	if err != nil {
		t.Fatal(err)
	}
	set := window.Set{w}
	c := pace.Calendar{Windows: pace.WindowsOf(set)}
	at := func(text string) int64 {
		day, err := time.Parse(time.DateTime, "2026-03-03 "+text)
		if err != nil {
			t.Fatal(err)
		}
		return day.UnixNano()
	}
	c.See(policy.Instant{Time: 5, Wall: at("21:00:00")})
	if got := c.Opens(5); got != policy.Time(5).Add(hour) {
		t.Errorf("it opens at %v", got)
	}
	c.See(policy.Instant{Time: 6, Wall: at("22:30:00")}) // somebody has set the clock
	if got := c.Opens(6); got != 6 || c.Opens(policy.Time(6).Add(hour)) != policy.Time(6).Add(hour) ||
		c.Opens(policy.Time(6).Add(8*hour)) <= policy.Time(6).Add(23*hour) {
		t.Errorf("it opens at %v", got)
	}
	facts := c.Facts(6, nil)
	if len(facts) != 3 || facts[0].Text != "22:00-06:00" || facts[1].Key != policy.KeyWindowOpened ||
		facts[1].At != policy.Time(6).Add(-hour/2) ||
		facts[2].Key != policy.KeyWindowCloses || facts[2].At != policy.Time(6).Add(7*hour+hour/2) {
		t.Errorf("%+v", facts)
	}
	always := pace.Calendar{Windows: pace.WindowsOf(window.Set{})}
	if always.Windows != nil || always.Opens(7) != 7 || len(always.Facts(7, nil)) != 0 {
		t.Error("a gate without windows is not always open")
	}
}

func TestOnlyARunThatIsRepeatedHasANote(t *testing.T) {
	for outcome, want := range map[policy.Outcome]policy.Note{
		policy.Succeeded: 0, policy.Failed: pace.NoteFailed, policy.NotNow: pace.NoteNotNow,
	} {
		if got := (pace.Pace{MinInterval: hour, RetryAfter: time.Minute}).NoteOf(outcome); got != want {
			t.Errorf("%v: %d, want %d", outcome, got, want)
		}
		if got := (pace.Pace{MinInterval: hour}).NoteOf(outcome); got != 0 {
			t.Errorf("%v, without retry_after: %d", outcome, got)
		}
	}
}

// A caller that has waited during a run of the operation has the next grant, unless it waits no more; a denied grant
// does not count as a turn.
func TestACallerAndTheOperationTakeTurns(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*pace.Turns)
		callers bool // although the operation is due
	}{
		"nobody has waited":   {func(*pace.Turns) {}, false},
		"somebody has waited": {func(t *pace.Turns) { t.Owe(); t.Ended(false, false) }, true},
		"somebody has waited, and has gone": {func(t *pace.Turns) {
			t.Owe()
			t.Ended(false, false)
			t.Gone()
		}, false},
		"somebody has waited, and has run": {func(t *pace.Turns) {
			t.Owe()
			t.Ended(false, false)
			t.Ended(true, false)
		}, false},
		"somebody has waited, and could not run": {func(t *pace.Turns) {
			t.Owe()
			t.Ended(false, false)
			t.Ended(true, true)
		}, true},
		"somebody has waited, the operation did not": {func(t *pace.Turns) { t.Owe(); t.Ended(false, true) }, false},
	} {
		var turns pace.Turns
		c.happens(&turns)
		if turns.Callers(true) != c.callers || !turns.Callers(false) {
			t.Errorf("%s: the next grant is for callers: %v, and %v if the operation is not due", name,
				turns.Callers(true), turns.Callers(false))
		}
	}
}

// The last answer must not be used for a time after a window has opened or closed, nor for other windows.
func TestACalendarIsAskedAgainWhereTheLastAnswerDoesNotTell(t *testing.T) {
	parse := func(text string) window.Set {
		w, err := window.Parse(text, func(string) (*time.Location, error) { return time.UTC, nil })
		if err != nil {
			t.Fatal(err)
		}
		return window.Set{w}
	}
	midnight := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC).UnixNano()
	c := pace.Calendar{Windows: pace.WindowsOf(parse("02:00-03:00"))}
	c.See(policy.Instant{Time: began, Wall: midnight})
	day := 24 * hour
	check := func(after, want time.Duration) {
		t.Helper()
		if got := c.Opens(began.Add(after)).Sub(began); got != want {
			t.Errorf("after %v it opens at %v, want %v", after, got, want)
		}
	}
	check(0, 2*hour)
	check(hour, 2*hour)
	check(2*hour, 2*hour)
	check(2*hour+time.Minute, 2*hour+time.Minute)
	check(3*hour, day+2*hour)
	check(4*hour, day+2*hour)
	check(hour, 2*hour)
	c.Set(parse("05:00-06:00"))
	check(hour, 5*hour)
	check(5*hour, 5*hour)
	c.Set(nil)
	check(hour, hour)
}

// A wait that was decided with another pace counts only if this pace can have it.
func TestAWaitThatThisPaceCannotHaveIsDropped(t *testing.T) {
	for _, c := range []struct {
		pace       pace.Pace
		wait, want time.Duration
	}{
		{pace.Pace{MinInterval: hour, RetryAfter: time.Minute}, hour, hour},
		{pace.Pace{MinInterval: hour, RetryAfter: time.Minute}, hour + 1, 0},
		{pace.Pace{MinInterval: hour, RetryAfter: time.Minute}, -1, 0},
		{pace.Pace{MinInterval: hour, RetryAfter: 1}, time.Minute, time.Minute},
		{pace.Pace{MinInterval: hour}, time.Minute, 0},
	} {
		if got := c.pace.Held(pace.Repeat{Wait: c.wait, Failures: 2}); got.Wait != c.want || got.Failures != 2 {
			t.Errorf("%+v: a wait of %v becomes %+v, want %v", c.pace, c.wait, got, c.want)
		}
	}
}

// Runs that have failed in a row are a fact, and none are not.
func TestOnlyFailuresAreAFact(t *testing.T) {
	if facts := (pace.Repeat{}).Facts(nil); len(facts) > 0 {
		t.Errorf("no run has failed, and there is %+v", facts)
	}
	if facts := (pace.Repeat{Failures: 3}).Facts(nil); len(facts) != 1 || facts[0].Count != 3 {
		t.Errorf("three runs have failed: %+v", facts)
	}
}
