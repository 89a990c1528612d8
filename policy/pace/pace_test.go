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

func TestWhatFollowsARun(t *testing.T) {
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
		{name: "not now", before: 3, outcome: policy.NotNow, wait: hour + time.Minute, why: pace.WhyNotNow, interval: hour + time.Minute},
		{name: "the first failure", outcome: policy.Failed, wait: hour + time.Minute, failures: 1, why: pace.WhyFailed, interval: hour + time.Minute},
		{name: "the third", before: 2, outcome: policy.Failed, wait: 4*hour + time.Minute, failures: 3, why: pace.WhyFailed, interval: 4*hour + time.Minute},
		{name: "no later than min_interval", before: 9, outcome: policy.Failed, wait: 10 * hour, failures: 10, why: pace.WhyFailed, interval: 10 * hour},
		{name: "the count has an end", before: math.MaxUint8, outcome: policy.Failed, wait: 10 * hour, failures: math.MaxUint8, why: pace.WhyFailed, interval: 10 * hour},
	} {
		got := p.After(pace.Repeat{Failures: c.before}, began, ended, c.outcome)
		if want := (pace.Repeat{Wait: c.wait, Failures: c.failures}); got != want || got.Why() != c.why || p.Interval(got) != c.interval {
			t.Errorf("%s: %+v, %q, %v", c.name, got, got.Why(), p.Interval(got))
		}
		if got := (pace.Pace{MinInterval: hour}).After(pace.Repeat{}, began, ended, c.outcome); got != (pace.Repeat{}) {
			t.Errorf("%s, without retry_after: %+v", c.name, got)
		}
	}
	if got := (pace.Pace{MinInterval: math.MaxInt64, RetryAfter: math.MaxInt64/2 + 1}).After(pace.Repeat{Failures: 5}, began, ended, policy.Failed); got.Wait <= 0 {
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
	if got := c.Opens(6); got != 6 || c.Opens(policy.Time(6).Add(hour)) != policy.Time(6).Add(hour) || c.Opens(policy.Time(6).Add(8*hour)) <= policy.Time(6).Add(23*hour) {
		t.Errorf("it opens at %v", got)
	}
	facts := c.Facts(6, nil)
	if len(facts) != 3 || facts[0].Text != "22:00-06:00" || facts[1].Name != "window_opened" || facts[1].At != policy.Time(6).Add(-hour/2) ||
		facts[2].Name != "window_closes" || facts[2].At != policy.Time(6).Add(7*hour+hour/2) {
		t.Errorf("%+v", facts)
	}
	always := pace.Calendar{Windows: pace.WindowsOf(window.Set{})}
	if always.Windows != nil || always.Opens(7) != 7 || len(always.Facts(7, nil)) != 0 {
		t.Error("a gate without windows is not always open")
	}
}
