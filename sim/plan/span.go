package plan

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// grain returns the unit to which a duration is rounded: about a two-hundredth of it, as people count time.
func grain(d time.Duration) time.Duration {
	grains := []time.Duration{
		24 * time.Hour, 12 * time.Hour, 6 * time.Hour, time.Hour, 30 * time.Minute, 10 * time.Minute, 5 * time.Minute,
		time.Minute,
		30 * time.Second, 10 * time.Second, 5 * time.Second, time.Second,
		500 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond, 10 * time.Millisecond,
		5 * time.Millisecond,
		time.Millisecond, 100 * time.Microsecond, 10 * time.Microsecond, time.Microsecond, 10 * time.Nanosecond,
	}
	for _, g := range grains {
		if g <= d/100 {
			return g
		}
	}
	return time.Nanosecond
}

func roundDown(d time.Duration) time.Duration { return d.Truncate(grain(d)) }

func roundUp(d time.Duration) time.Duration {
	down := roundDown(d)
	if down == d || down > math.MaxInt64-grain(d) {
		return down
	}
	return down + grain(d)
}

// written formats a duration exactly, in the form that the command line and the configuration read.
func written(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// spoken formats a number of seconds with at most two units, or with three digits and one unit.
func spoken(s float64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	two := func(large float64, unit string, small float64, rest string) string {
		n := math.Round(s / small)
		whole := math.Floor(n * small / large)
		if left := n - whole*large/small; left > 0.5 {
			return fmt.Sprintf("%.0f%s %.0f%s", whole, unit, left, rest)
		}
		return fmt.Sprintf("%.0f%s", whole, unit)
	}
	switch {
	case math.IsNaN(s):
		return "–"
	case math.IsInf(s, 1):
		return "for ever"
	case s >= 100*day:
		return fmt.Sprintf("%.0fd", s/day)
	case s >= 100*hour-hour/2:
		return two(day, "d", hour, "h")
	case s >= hour-minute/2:
		return two(hour, "h", minute, "m")
	case s >= minute-0.5:
		return two(minute, "m", 1, "s")
	case s >= 10:
		return fmt.Sprintf("%.3gs", s)
	case s >= 1:
		return fmt.Sprintf("%.2gs", s)
	case s <= 0:
		return "0s"
	}
	return fmt.Sprintf("%.3gms", 1000*s)
}
