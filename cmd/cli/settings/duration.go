package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	day = 24 * time.Hour
	// longest keeps sums and products of durations far from overflow.
	longest = 365 * day
)

// ParseDuration reads a duration of at least zero and at most 365d. It is written as Go writes durations, with days as
// a further unit, which comes first: "90s", "1h30m", "1d", "1d12h". A number without a unit is an error.
func ParseDuration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		if strings.HasPrefix(text, "-") {
			return 0, fmt.Errorf("%q is negative and has no unit: write a duration, as in 90s, 10m, 1h30m or 1d", text)
		}
		return 0, fmt.Errorf("%q has no unit: write %[2]ss for seconds, %[2]sm for minutes, %[2]sh for hours or "+
			"%[2]sd for days",
			text, strings.TrimPrefix(text, "+"))
	}
	d, ok := parseDays(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("%q is not a duration: write a number with a unit, as in 90s, 10m, 1h30m or 1d", text)
	case d < 0:
		return 0, fmt.Errorf("%q is negative: write a duration of 0s or more", text)
	case d > longest:
		return 0, fmt.Errorf("%q is longer than %s, the maximum", text, FormatDuration(longest))
	}
	return d, nil
}

func parseDays(text string) (d time.Duration, ok bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	// days are first read as hours, exactly, in whatever form they are written
	hours, err := time.ParseDuration(days + "h")
	if err == nil && rest != "" {
		d, err = time.ParseDuration(rest)
	}
	switch {
	case err != nil, strings.HasPrefix(rest, "+"), strings.HasPrefix(rest, "-"):
		return 0, false
	case strings.ContainsFunc(days, func(c rune) bool { return c >= 'a' && c <= 'z' }):
		return 0, false // another unit stands before the days
	case hours < 0:
		return -1, true
	case hours > longest/24, d > longest:
		return longest + 1, true
	}
	return 24*hours + d, true
}

// FormatDuration writes a duration in the shortest form that ParseDuration can read: "10m", "1d12h".
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return d.String()
	}
	text := ""
	if d >= day {
		text = strconv.FormatInt(int64(d/day), 10) + "d"
		d %= day
		if d == 0 {
			return text
		}
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}
