package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/window"
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

// The windows of a scenario that somebody has written may be on any days.
func TestACalendarReadsAnyDays(t *testing.T) {
	for _, text := range []string{
		"Mon..Fri 22:00-06:00 UTC", "Sat,Sun 08:00-09:30 UTC-03:30", "Mon,Wed..Fri 00:00-24:00 UTC+05:45",
		"Fri..Mon 12-13 UTC", "Sun 23:00-01:00 UTC+14:00", "Mon..Sun 01:00-02:00 UTC",
	} {
		w, err := window.Parse(text, calendar.Zone)
		if err != nil {
			t.Fatal(err)
		}
		set := window.Set{w}
		hours := calendar.Of(set)
		for minute := range 14 * 24 * 60 {
			at := sim.Epoch + int64(minute)*int64(time.Minute)
			if is := hours.Open(at); is != set.Open(at) {
				t.Fatalf("%s: the calendar says %v in minute %d", text, is, minute)
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
