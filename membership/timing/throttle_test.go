package timing

import (
	"testing"
	"time"
)

func TestThrottleLetsOneThroughAndCountsTheRest(t *testing.T) {
	th := Throttle{Every: time.Minute}
	now := time.Unix(0, 0)
	for _, step := range []struct {
		after time.Duration
		ok    bool
		more  HeldBack
	}{{0, true, 0}, {time.Second, false, 0}, {time.Second, false, 0}, {time.Minute, true, 2}, {time.Minute, true, 0}} {
		now = now.Add(step.after)
		if ok, more := th.Allow(now); ok != step.ok || more != step.more {
			t.Errorf("at %v: %t, %d held back; want %+v", now.Sub(time.Unix(0, 0)), ok, more, step)
		}
	}
}
