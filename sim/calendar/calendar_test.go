package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/calendar"
)

// In each minute of a week a drawn window is open as its calendar says; on the first day for so many minutes from
// time to time, and then until the day ends in UTC.
func TestWindowsAreOpenAsTheirCalendarSays(t *testing.T) {
	for seed := range uint64(50) {
		d := sim.NewDice(seed, 1)
		open, closed := 1+d.IntN(5), 1+d.IntN(5)
		windows := calendar.Draw(d, open, closed, 60)
		hours := calendar.Of(*windows)
		always := strings.Contains((*windows)[0].String(), "00:00-24:00")
		for minute := range 7 * 24 * 60 {
			at := sim.Epoch + int64(minute)*int64(time.Minute) + d.Int64N(int64(time.Minute))
			is := hours.Open(at)
			if windows.Open(at) != is {
				t.Fatalf("seed %d: %v: the calendar says %v in minute %d", seed, *windows, is, minute)
			}
			want := minute >= 60 || minute%(open+closed) >= closed ||
				len(*windows) == 1 && (minute >= closed || always)
			if minute < 24*60 && is != want {
				t.Fatalf("seed %d: %v: open %v in minute %d, want %v", seed, *windows, is, minute, want)
			}
		}
	}
}

func TestAZoneIsAnOffset(t *testing.T) {
	for name, offset := range map[string]int{"UTC": 0, "UTC+05:45": 20_700, "UTC-11:00": -39_600, "UTC+14:00": 50_400} {
		zone, err := calendar.Zone(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := time.Unix(0, sim.Epoch).In(zone).Zone(); is != offset {
			t.Errorf("%s is %d seconds ahead, want %d", name, is, offset)
		}
	}
	for _, name := range []string{"", "Local", "Europe/Berlin", "UTC+14:01", "UTC+24:00", "UTC 01:00", "UTC+1"} {
		if _, err := calendar.Zone(name); err == nil {
			t.Errorf("%q is a zone", name)
		}
	}
}
