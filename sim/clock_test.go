package sim

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
)

// A member lives by its own clock: what its machine asks for happens when that clock shows the time, never before.
func TestAMemberLivesByTheRateOfItsOwnClock(t *testing.T) {
	for name, tc := range map[string]struct {
		rate       float64
		woken, end policy.Time
	}{
		"true": {0, policy.Time(10 * time.Second), policy.Time(20 * time.Second)},
		"fast": {0.25, policy.Time(8 * time.Second), policy.Time(16 * time.Second)},
		"slow": {-0.2, policy.Time(12500 * time.Millisecond), policy.Time(25 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(Config{Members: 1, Clocks: []Clock{{Rate: tc.rate}}, Hook: Hook{Takes: time.Hour}})
			w.Boot()
			p := w.probes[0]
			p.answer = func(ev *policy.Event) []policy.Effect {
				if ev.Kind != policy.Woke {
					return nil
				}
				return []policy.Effect{{Kind: policy.Run, Until: policy.Time(20 * time.Second)}}
			}
			p.wakeAt = policy.Time(10 * time.Second)
			w.setAlarm(0)
			w.events()
			times := map[policy.EventKind]policy.Time{}
			for range 60 {
				w.run(t, 500*time.Millisecond)
				for _, g := range w.events(policy.Woke, policy.Finished) {
					times[g.Kind] = w.clockOf(0).shows(g.At)
				}
			}
			want := map[policy.EventKind]policy.Time{policy.Woke: tc.woken, policy.Finished: tc.end}
			if d := cmp.Diff(want, times); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAClockShowsATimeAtTheFirstMomentAtWhichItReadsIt(t *testing.T) {
	for _, rate := range []float64{0, 0.01, -0.01, 0.013, -0.2, 1e-6} {
		k := Clock{Rate: rate}
		for _, at := range []policy.Time{0, 1, 99, 1e9 + 7, 86400e9 + 13, 1e15 + 1} {
			now := k.shows(at)
			if k.reads(now) < at || now > 0 && k.reads(now-1) >= at {
				t.Errorf("rate %v: %d is shown at %d, which reads %d, and %d a moment before", rate, at, now,
					k.reads(now), k.reads(now-1))
			}
		}
		if at := k.shows(math.MinInt64); at > 0 {
			t.Errorf("rate %v: what is due at once is due at %d", rate, at)
		}
	}
}
