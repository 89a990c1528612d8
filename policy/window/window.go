// Package window has the times of the week in which a gate may run: "Mon..Fri 22:00-06:00 Europe/Berlin".
//
// A window is open while the clocks of its zone show a time in it. So it is an hour shorter in a night in which the
// clocks go forward, and an hour longer in a night in which they go back. A window inside the skipped hour does not
// open in that night, and one inside the repeated hour opens twice. A window whose end is not after its beginning ends
// on the next day, and belongs to the day on which it begins.
//
// The package reads no clock: a time is Unix time in nanoseconds.
//
// Its decisions, in docs/decisions: 039.
package window

import (
	"fmt"
	"strings"
	"time"
)

// Never is later than every opening and every end.
const Never int64 = 1<<63 - 1

// Window is one window of a week. The zero value is never open.
type Window struct {
	// days has a bit for each weekday on which the window begins; time.Sunday is bit 0.
	days uint8
	// from and to are minutes of a day: 0 to 1439 and 1 to 1440.
	from, to int
	zone     *time.Location
	// zoneName is the zone as it was written; empty means the host's own.
	zoneName string
}

// Location is the zone whose clocks the window goes by.
func (w Window) Location() *time.Location { return w.zone }

// Set is the windows of a gate: the gate is open while one of them is. A gate with an empty set is always open.
type Set []Window

// Open reports whether a window is open.
func (s Set) Open(at int64) bool {
	if len(s) == 0 {
		return true
	}
	for i := range s {
		if s[i].open(at) {
			return true
		}
	}
	return false
}

// Opens returns the first time from at on at which a window is open, or Never.
func (s Set) Opens(at int64) int64 {
	if s.Open(at) {
		return at
	}
	return s.change(at)
}

// Closes returns the first time from at on at which no window is open, or Never.
func (s Set) Closes(at int64) int64 {
	if !s.Open(at) {
		return at
	}
	return s.change(at)
}

// Opened returns the last time up to at at which a window opened, or at if none is open then. A window that has been
// open for longer than lookahead counts as always open.
func (s Set) Opened(at int64) int64 {
	if !s.Open(at) {
		return at
	}
	from := max(at, int64(lookahead)) - int64(lookahead)
	opened, was := from, s.Open(from)
	for from = s.boundary(from); from <= at; from = s.boundary(from) {
		is := s.Open(from)
		if is && !was {
			opened = from
		}
		was = is
	}
	return opened
}

// lookahead is how far ahead a change is looked for. Each week has the same windows, but a change of the clocks may
// skip the only window of a week; in two weeks in a row that happens only once.
const lookahead = 15 * 24 * time.Hour

// change returns the first time after at at which the set opens if it is closed at that time, or closes if it is open;
// Never if there is none.
func (s Set) change(at int64) int64 {
	is, end := s.Open(at), at+min(int64(lookahead), Never-at)
	for at < end {
		at = s.boundary(at)
		if s.Open(at) != is {
			return at
		}
	}
	return Never
}

// boundary returns the first time after at at which a window may begin or end.
func (s Set) boundary(at int64) int64 {
	next := Never
	for i := range s {
		next = min(next, s[i].boundary(at))
	}
	return next
}

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
	day    = minutesOfDay * minute
	// A time of the day is written in minutes.
	minutesOfDay = 24 * 60
)

// clocks returns the weekday and the time of the day that the clocks of the zone show. It computes them itself, because
// package time computes the zone's offset again for each part of a date, and this is called in every step of a machine.
func (w *Window) clocks(at int64) (today time.Weekday, shown int64) {
	t := time.Unix(0, at)
	_, offset := t.In(w.zone).Zone()
	const aDay = day / second
	s := t.Unix() + int64(offset)
	ofDay := (s%aDay + aDay) % aDay
	days := (s - ofDay) / aDay
	// 1970 began on a Thursday
	return time.Weekday(((days+int64(time.Thursday))%7 + 7) % 7), ofDay*second + int64(t.Nanosecond())
}

// open reports whether the clocks of the zone show a time in the window.
func (w *Window) open(at int64) bool {
	if w.zone == nil {
		return false
	}
	today, now := w.clocks(at)
	shown := int(now / minute)
	if w.from < w.to {
		return w.on(today) && shown >= w.from && shown < w.to
	}
	return w.on(today) && shown >= w.from || w.on((today+6)%7) && shown < w.to
}

// on reports whether the window begins on a day.
func (w *Window) on(day time.Weekday) bool { return w.days&(1<<day) != 0 }

// boundary returns the first time after at at which the clocks show the beginning or the end of the window, or are
// changed.
func (w *Window) boundary(at int64) int64 {
	if w.zone == nil {
		return Never
	}
	_, shown := w.clocks(at)
	next := at + min(until(shown, w.from), until(shown, w.to))
	if _, changed := time.Unix(0, at).In(w.zone).ZoneBounds(); changed.After(time.Unix(0, at)) &&
		changed.Before(time.Unix(0, next)) {
		return changed.UnixNano()
	}
	return next
}

// until returns how long it takes until a clock that shows a time of the day shows a minute of the day, if the clock is
// not changed: more than zero, and at most a day.
func until(shown int64, minuteOfDay int) int64 {
	wait := (int64(minuteOfDay)*minute - shown) % day
	if wait <= 0 {
		wait += day
	}
	return wait
}

// String writes the window in its shortest form.
func (w Window) String() string {
	text := fmt.Sprintf("%s-%s", clock(w.from), clock(w.to))
	if w.days != everyDay {
		text = w.daysText() + " " + text
	}
	if w.zoneName != "" {
		text += " " + w.zoneName
	}
	return text
}

func clock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

// daysText writes the days as systemd does, from Monday on: "Mon..Wed,Fri".
func (w *Window) daysText() string {
	var parts []string
	week := week()
	for i := 0; i < len(week); i++ {
		if !w.on(week[i]) {
			continue
		}
		last := i
		for last+1 < len(week) && w.on(week[last+1]) {
			last++
		}
		switch name := week[i].String()[:3]; {
		case last >= i+2:
			parts = append(parts, name+".."+week[last].String()[:3])
			i = last
		default:
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ",")
}
