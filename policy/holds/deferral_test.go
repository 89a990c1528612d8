package holds

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Runs that were put off wait for different times, and for no longer than a run waits for its gates.
func TestARunIsPutOffForHalfItsWaitOrMore(t *testing.T) {
	dice := rand.NewPCG(1, 1)
	now := policy.Time(time.Hour)
	for _, tc := range []struct{ waited, within, most time.Duration }{
		{0, 20 * time.Second, 20 * time.Second},
		{0, time.Hour, time.Minute},
		{time.Second, time.Hour, time.Minute},
		{10 * time.Minute, time.Hour, 10 * time.Minute},
		{time.Hour, time.Hour, time.Hour},
	} {
		var d Deferral
		d.Begin(now, errors.New("because"), tc.waited, tc.within, dice)
		if left := d.Until().Sub(now); left < tc.most/2 || left > tc.most {
			t.Errorf("waited for %v of %v: put off for %v", tc.waited, tc.within, left)
		}
	}
	var times []time.Duration
	for range 20 {
		var d Deferral
		if d.Is() || d.Why(now) != "" || d.Until() != policy.Never {
			t.Fatal("nothing was put off")
		}
		d.Begin(now, errors.New("because"), time.Minute, time.Minute, dice)
		left := d.Until().Sub(now)
		if left < 30*time.Second || left > time.Minute || !strings.HasSuffix(d.Why(now), ": because") {
			t.Errorf("%v, %q", left, d.Why(now))
		}
		times = append(times, left)
		if now = now.Add(left); !d.Is() || d.Why(now) != "" {
			t.Error("it is over")
		}
		if d.End(); d.Is() {
			t.Error("it is over, and was noticed")
		}
	}
	if slices.Min(times) == slices.Max(times) {
		t.Error("all wait equally long")
	}
	var d Deferral
	if d.Begin(now, errors.New("because"), 0, 0, dice); d.Why(now) != "" {
		t.Error("a run that waits for nothing is put off")
	}
}
