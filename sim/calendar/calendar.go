// Package calendar has the windows of a world: it draws some, reads their zones, and judges by itself whether one is
// open, so that package policy/window does not judge itself.
//
// A zone is "UTC", or "UTC+05:45": a world needs no database of zones.
package calendar

import (
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
)

// Zone returns the zone of that name. Its offset is at most 14 hours.
func Zone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	for _, sign := range []string{"+", "-"} {
		at, err := time.Parse("UTC"+sign+"15:04", name)
		if offset := at.Hour()*60 + at.Minute(); err == nil && offset <= 14*60 {
			if sign == "-" {
				offset = -offset
			}
			return time.FixedZone(name, offset*60), nil
		}
	}
	return nil, fmt.Errorf("%q is not a zone of a world: write UTC, or an offset up to 14 hours as in UTC+05:45", name)
}

// Draw returns windows that open and close for so many minutes of the first day of a run, beginning closed, and then
// stay open until that day has ended in UTC, and in the same hours of each other day. One in five sets is one window
// that opens once, and one in ten is always open. Half of them are in another zone than UTC; half of the short ones
// open on their own day only.
func Draw(d sim.Dice, open, closed, minutes int) *window.Set {
	zone, ownDay := "UTC", d.Sometimes(0.5)
	if d.Sometimes(0.5) {
		zone = []string{"UTC+05:45", "UTC-03:30", "UTC+14:00", "UTC-11:00", "UTC+00:07", "UTC-00:13"}[d.IntN(6)]
	}
	windows := window.Set{between(zone, false, minutes, 24*60)}
	if d.Sometimes(0.2) {
		windows[0] = between(zone, false, closed, 24*60)
		return &windows
	}
	if d.Sometimes(0.1) {
		windows[0] = parse("00:00-24:00 " + zone)
		return &windows
	}
	for at := closed; at < minutes; at += open + closed {
		windows = append(windows, between(zone, ownDay, at, min(at+open, minutes)))
	}
	return &windows
}

// between returns the window between two minutes of a run, in the clocks of a zone: on the day of its beginning, or on
// all days.
func between(zone string, ownDay bool, from, to int) window.Window {
	location, err := Zone(zone)
	if err != nil {
		panic(err)
	}
	at := func(minute int) time.Time {
		return time.Unix(0, sim.Epoch+int64(minute)*int64(time.Minute)).In(location)
	}
	const clock = "15:04"
	text := at(from).Format(clock) + "-" + at(to).Format(clock) + " " + zone
	if ownDay {
		text = at(from).Format("Mon ") + text
	}
	return parse(text)
}

func parse(text string) window.Window {
	w, err := window.Parse(text, Zone)
	if err != nil {
		panic(err)
	}
	return w
}

// Calendar tells whether windows are open. It reads them as people do, and asks package time what the clocks show.
type Calendar []times

// times is one window: the days on which it begins, the first minute of a day, and the first one after it.
type times struct {
	days     [7]bool
	from, to int
	zone     *time.Location
}

// Of returns the calendar of a set of windows.
func Of(set window.Set) (c Calendar) {
	for _, w := range set {
		one, words, days := times{zone: w.Location()}, strings.Fields(w.String()), "Mon..Sun"
		if isDay := !strings.Contains(words[0], ":"); isDay {
			days, words = words[0], words[1:]
		}
		for part := range strings.SplitSeq(days, ",") {
			first, last, _ := strings.Cut(part, "..")
			for day := dayOf(first); ; day = (day + 1) % 7 {
				if one.days[day] = true; last == "" || day == dayOf(last) {
					break
				}
			}
		}
		var fromHour, toHour int
		if _, err := fmt.Sscanf(words[0], "%d:%d-%d:%d", &fromHour, &one.from, &toHour, &one.to); err != nil {
			panic(err)
		}
		one.from, one.to = one.from+fromHour*60, one.to+toHour*60
		c = append(c, one)
	}
	return c
}

// Open reports whether a window is open at a Unix time in nanoseconds.
func (c Calendar) Open(at int64) bool {
	for _, w := range c {
		shown := time.Unix(0, at).In(w.zone)
		minute := shown.Hour()*60 + shown.Minute()
		switch overMidnight := w.from >= w.to; {
		case minute >= w.from && (overMidnight || minute < w.to) && w.begins(shown):
			return true
		case minute < w.to && overMidnight && w.begins(shown.AddDate(0, 0, -1)):
			return true
		}
	}
	return false
}

// begins reports whether the window begins on a day.
func (w *times) begins(day time.Time) bool { return w.days[day.Weekday()] }

// dayOf returns the day of a name as a window writes it: "Mon".
func dayOf(name string) time.Weekday {
	for day := range time.Saturday {
		if day.String()[:3] == name {
			return day
		}
	}
	return time.Saturday
}
