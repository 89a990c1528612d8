package settings

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "1.5s": 1500 * time.Millisecond, "250ms": 250 * time.Millisecond, "10m": 10 * time.Minute,
		"1h": time.Hour, "1h30m": 90 * time.Minute, "1d": day, "7d": 7 * day, "1d12h": 36 * time.Hour,
		"1d30m": day + 30*time.Minute, "0s": 0, "365d": longest,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%s is read as %v, %v; want %v", text, d, err, want)
		}
		if got := FormatDuration(want); got != text {
			t.Errorf("%v is written as %s, want %s", want, got, text)
		}
	}
	for text, want := range map[string]time.Duration{
		"24h": day, "1.5d": 36 * time.Hour, "0.5d": 12 * time.Hour, "90s": 90 * time.Second,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%s is read as %v, %v; want %v", text, d, err, want)
		}
	}
}

func TestBadDurationsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"5": "has no unit: write 5s for seconds", "0": "has no unit", "1.5": "write 1.5s",
		"-5": "is negative and has no unit",
		"+5": "write 5s", "-5s": "is negative", "-1d": "is negative", "soon": "is not a duration",
		"":  "is not a duration",
		"d": "is not a duration", "1dd": "is not a duration", "1d-1h": "is not a duration",
		"1d+1h": "is not a duration",
		"1h1d":  "is not a duration", "1d5": "is not a duration", "366d": "is longer than 365d",
		"9000h":   "is longer than 365d",
		"999999d": "is longer than 365d", "365d1s": "is longer than 365d", "1e3s": "is not a duration",
		"5 m": "is not a duration",
	} {
		if d, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, d, err, want)
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, "d"))
		if unit := rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour, day}).
			Draw(t, "unit"); unit > 1 {
			d = d.Truncate(unit)
		}
		if back, err := ParseDuration(FormatDuration(d)); err != nil || back != d {
			t.Fatalf("%v is written as %s and read as %v, %v", d, FormatDuration(d), back, err)
		}
	})
}
