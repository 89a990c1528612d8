package plan

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRoundingGoesOneWayAndNotFar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "d"))
		down, up := roundDown(d), roundUp(d)
		if down > d || d-down > d/100 {
			t.Errorf("%v is rounded down to %v", d, down)
		}
		if up > d && up-d > d/100 || up < d && d <= math.MaxInt64-d/100 {
			t.Errorf("%v is rounded up to %v", d, up)
		}
		if again := roundDown(down); again != down {
			t.Errorf("%v is round, and %v rounder", down, again)
		}
	})
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "d"))
		if unit := rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour}).
			Draw(t, "unit"); unit > 1 {
			d = d.Truncate(unit)
		}
		if got, err := time.ParseDuration(written(d)); err != nil || got != d {
			t.Errorf("%v is written %s, and read as %v, %v", d, written(d), got, err)
		}
	})
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 250 * time.Millisecond: "250ms",
		0: "0s",
	} {
		if got := written(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}

func TestTimesAreSpokenInTwoUnits(t *testing.T) {
	const minute, hour, day = 60, 3600, 86400
	for s, want := range map[float64]string{
		0: "0s", 0.0421: "42.1ms", 1.26: "1.3s", 12.34: "12.3s", 59.7: "1m", 61: "1m 1s", 26*minute + 57: "26m 57s",
		hour - 0.4: "1h", hour + 32*minute: "1h 32m", 24*hour + 29: "24h", 99*hour + 20*minute: "99h 20m",
		102 * hour: "4d 6h",
		200 * day:  "200d", math.Inf(1): "for ever",
	} {
		if got := spoken(s); got != want {
			t.Errorf("%v s is spoken %q, want %q", s, got, want)
		}
	}
	if got := spoken(math.NaN()); got != "–" {
		t.Errorf("nothing is spoken %q", got)
	}
}
