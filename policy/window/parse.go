package window

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// week returns the days in the order in which people write them.
func week() [7]time.Weekday {
	return [7]time.Weekday{
		time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
	}
}

const everyDay = 1<<7 - 1

// Zone finds a time zone by its name, as time.LoadLocation does; the name of the host's own is "Local".
type Zone func(name string) (*time.Location, error)

// Parse reads "[DAYS] FROM-TO [ZONE]". DAYS are as in a calendar event of systemd: "Mon..Fri", "Sat,Sun",
// "Mon,Wed..Fri"; without them it is every day. FROM and TO are "22:00" or "22", TO up to "24:00". ZONE is a name like
// "Europe/Berlin" or "UTC"; without it, the zone is the host's. The error tells what to write instead.
func Parse(text string, zone Zone) (Window, error) {
	words := strings.Fields(text)
	w := Window{days: everyDay}
	at := slices.IndexFunc(words, func(word string) bool { return word != "" && isDigit(word[0]) })
	if at < 0 || at > 1 || len(words) > at+2 {
		return Window{}, fmt.Errorf("%q is not a window: write days, times and a zone, as in \"Mon..Fri 22:00-06:00 "+
			"Europe/Berlin\"", text)
	}
	if at == 1 {
		var err error
		if w.days, err = parseDays(words[0]); err != nil {
			return Window{}, err
		}
	}
	if err := w.parseTimes(words[at]); err != nil {
		return Window{}, err
	}
	name := "Local"
	if len(words) > at+1 {
		w.zoneName = words[at+1]
		name = w.zoneName
	}
	location, err := zone(name)
	if err != nil {
		return Window{}, fmt.Errorf("%q is not a time zone: write a name as \"Europe/Berlin\" or \"UTC\", or leave "+
			"it out for the zone of this host", name)
	}
	w.zone = location
	return w, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseDays reads "Mon..Wed,Fri". A range may pass the end of the week.
func parseDays(text string) (days uint8, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "..")
		from, err := parseDay(first)
		if err != nil {
			return 0, err
		}
		to := from
		if isRange {
			if to, err = parseDay(last); err != nil {
				return 0, err
			}
		}
		for day := from; ; day = (day + 1) % 7 {
			if days |= 1 << day; day == to {
				break
			}
		}
	}
	return days, nil
}

// parseDay reads the name of a day, or its first three letters.
func parseDay(text string) (time.Weekday, error) {
	for _, day := range week() {
		if name := day.String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return day, nil
		}
	}
	return 0,
		fmt.Errorf("%q is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in \"Mon..Fri\" or \"Sat,Sun\"",
			text)
}

// parseTimes reads "22:00-06:00".
func (w *Window) parseTimes(text string) (err error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return fmt.Errorf("%q has no end: write both times, as in \"22:00-06:00\"", text)
	}
	if w.from, err = parseTime(from); err != nil {
		return err
	}
	if w.to, err = parseTime(to); err != nil {
		return err
	}
	switch {
	case w.from == minutesOfDay:
		return fmt.Errorf("%q begins at the end of the day: write 00:00, and the next day", text)
	case w.from == w.to:
		return fmt.Errorf("%q ends when it begins: write \"00:00-24:00\" for a whole day", text)
	case w.to == 0:
		w.to = minutesOfDay
	}
	return nil
}

// parseTime reads "22:00", "6:30" or "22"; "24:00" is the end of a day.
func parseTime(text string) (minutes int, err error) {
	if text == "24:00" || text == "24" {
		return minutesOfDay, nil
	}
	layout := "15"
	if strings.Contains(text, ":") {
		layout = "15:04"
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0,
			fmt.Errorf("%q is not a time of the day: write hours and minutes from 00:00 to 24:00, as in \"22:00\"",
				text)
	}
	return 60*t.Hour() + t.Minute(), nil
}
