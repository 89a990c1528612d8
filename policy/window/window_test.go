package window_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every host

	"github.com/wanderd/wanderd/policy/window"
)

func parse(t testing.TB, texts ...string) window.Set {
	t.Helper()
	var s window.Set
	for _, text := range texts {
		w, err := window.Parse(text, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, w)
	}
	return s
}

// at reads a time with its offset, as in "2026-10-25 02:30 +0200".
func at(t testing.TB, text string) int64 {
	t.Helper()
	moment, err := time.Parse("2006-01-02 15:04 -0700", text)
	if err != nil {
		t.Fatal(err)
	}
	return moment.UnixNano()
}

// course wants that a set, which is closed at first, changes exactly at these times.
func course(t *testing.T, s window.Set, from, to string, want ...string) {
	t.Helper()
	var got []string
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	note := func(now int64) { got = append(got, time.Unix(0, now).In(berlin).Format("2006-01-02 15:04 -0700")) }
	for now, end := at(t, from), at(t, to); ; {
		if now = s.Opens(now); now >= end {
			break
		}
		note(now)
		if now = s.Closes(now); now >= end {
			break
		}
		note(now)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v changes at\n%s\nwant\n%s", s, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestANightBelongsToTheDayOnWhichItBegins(t *testing.T) {
	course(t, parse(t, "Mon..Fri 22:00-06:00 Europe/Berlin"), "2026-06-05 12:00 +0200", "2026-06-09 12:00 +0200",
		"2026-06-05 22:00 +0200", "2026-06-06 06:00 +0200", // Friday night
		"2026-06-08 22:00 +0200", "2026-06-09 06:00 +0200") // Monday night
}

func TestTheNightInWhichTheClocksGoForwardIsAnHourShorter(t *testing.T) {
	course(t, parse(t, "22:00-06:00 Europe/Berlin"), "2026-03-28 12:00 +0100", "2026-03-29 12:00 +0200",
		"2026-03-28 22:00 +0100", "2026-03-29 06:00 +0200") // seven hours
}

func TestTheNightInWhichTheClocksGoBackIsAnHourLonger(t *testing.T) {
	course(t, parse(t, "22:00-06:00 Europe/Berlin"), "2026-10-24 12:00 +0200", "2026-10-25 12:00 +0100",
		"2026-10-24 22:00 +0200", "2026-10-25 06:00 +0100") // nine hours
}

func TestAWindowInTheHourThatIsSkippedDoesNotOpenThatNight(t *testing.T) {
	course(t, parse(t, "02:00-03:00 Europe/Berlin"), "2026-03-28 12:00 +0100", "2026-03-30 12:00 +0200",
		"2026-03-30 02:00 +0200", "2026-03-30 03:00 +0200")
	// The part of it that is not skipped is there.
	course(t, parse(t, "02:30-03:30 Europe/Berlin"), "2026-03-28 12:00 +0100", "2026-03-29 12:00 +0200",
		"2026-03-29 03:00 +0200", "2026-03-29 03:30 +0200")
	course(t, parse(t, "01:30-02:30 Europe/Berlin"), "2026-03-28 12:00 +0100", "2026-03-29 12:00 +0200",
		"2026-03-29 01:30 +0100", "2026-03-29 03:00 +0200")
}

func TestAWindowInTheHourThatComesTwiceOpensTwice(t *testing.T) {
	course(t, parse(t, "02:15-02:45 Europe/Berlin"), "2026-10-24 12:00 +0200", "2026-10-25 12:00 +0100",
		"2026-10-25 02:15 +0200", "2026-10-25 02:45 +0200", "2026-10-25 02:15 +0100", "2026-10-25 02:45 +0100")
}

func TestAWindowOfTheDayThatTheClocksSkipOpensAWeekLater(t *testing.T) {
	course(t, parse(t, "Sun 02:00-03:00 Europe/Berlin"), "2026-03-28 12:00 +0100", "2026-04-06 12:00 +0200",
		"2026-04-05 02:00 +0200", "2026-04-05 03:00 +0200")
}

func TestSeveralWindowsAreOpenWhileOneOfThemIs(t *testing.T) {
	s := parse(t, "Sat 08:00-12:00 Europe/Berlin", "Sat 09:00-10:00 UTC", "Sat 12:00-13:00 Europe/Berlin",
		"Sun 00:00-24:00 Europe/Berlin")
	course(t, s, "2026-06-06 00:00 +0200", "2026-06-09 00:00 +0200",
		"2026-06-06 08:00 +0200", "2026-06-06 13:00 +0200", "2026-06-07 00:00 +0200", "2026-06-08 00:00 +0200")
}

func TestWithoutAWindowAGateIsAlwaysOpenAndAWholeWeekNeverEnds(t *testing.T) {
	now := at(t, "2026-06-06 00:00 +0200")
	for _, s := range []window.Set{nil, parse(t, "00:00-24:00 Europe/Berlin")} {
		if !s.Open(now) || s.Opens(now) != now || s.Closes(now) != window.Never {
			t.Errorf("%v: open %v, opens %d, closes %d", s, s.Open(now), s.Opens(now), s.Closes(now))
		}
	}
	if s := (window.Set{{}}); s.Open(now) || s.Opens(now) != window.Never {
		t.Error("a window that is not one is open")
	}
}

func TestAWindowIsWrittenInItsShortestForm(t *testing.T) {
	for text, want := range map[string]string{
		"Mon..Fri 22:00-06:00 Europe/Berlin": "Mon..Fri 22:00-06:00 Europe/Berlin",
		"  fri,MON  9-17:30 ":                "Mon,Fri 09:00-17:30",
		"Sat..Mon 0:00-24:00 UTC":            "Mon,Sat,Sun 00:00-24:00 UTC",
		"Monday,Tue,wednesday 22-0":          "Mon..Wed 22:00-24:00",
		"Mon..Sun 1-2":                       "01:00-02:00",
	} {
		w, err := window.Parse(text, time.LoadLocation)
		if err != nil || w.String() != want {
			t.Errorf("%q is read as %q, %v; want %q", text, w, err, want)
		}
	}
}

func TestAnErrorSaysWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"":                        `write days, times and a zone, as in "Mon..Fri 22:00-06:00 Europe/Berlin"`,
		"Mon Tue 1-2":             `write days, times and a zone`,
		"1-2 UTC x":               `write days, times and a zone`,
		"Europe/Berlin":           `write days, times and a zone`,
		"Mo..Fr 22:00-06:00":      `"Mo" is not a day: write Mon, Tue,`,
		"Mon-Fri 22:00-06:00":     `"Mon-Fri" is not a day`,
		"Mon.. 22:00-06:00":       `"" is not a day`,
		"22:00":                   `"22:00" has no end: write both times`,
		"22:00-25:00":             `"25:00" is not a time of the day`,
		"22:60-23:00":             `"22:60" is not a time of the day`,
		"22:0-23:00":              `"22:0" is not a time of the day`,
		"022:00-23:00":            `"022:00" is not a time of the day`,
		"22:00-24:01":             `"24:01" is not a time of the day`,
		"24:00-01:00":             `begins at the end of the day: write 00:00`,
		"22:00-22:00":             `write "00:00-24:00" for a whole day`,
		"22:00-06:00 Berlin":      `"Berlin" is not a time zone: write a name as "Europe/Berlin"`,
		"22:00-06:00 ../../etc/x": `is not a time zone`,
	} {
		if w, err := window.Parse(text, time.LoadLocation); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, w, err, want)
		}
	}
}

func TestAQuestionAllocatesNothing(t *testing.T) {
	s, now := parse(t, "Mon..Fri 22:00-06:00 Europe/Berlin", "Sun 1-2 UTC"), at(t, "2026-06-06 12:00 +0200")
	if n := testing.AllocsPerRun(100, func() { s.Opens(now); s.Closes(now) }); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// Everything that can be read can be written and read again. Its changes are where it opens and closes: it is closed
// just before it opens, and the reverse.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"Mon..Fri 22:00-06:00 Europe/Berlin", "9-17", "Sat,Sun 02:15-02:45 America/New_York",
		"Sun 2-3 Australia/Lord_Howe", "Mon..", "-",
	} {
		f.Add(text, int64(1_790_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		w, err := window.Parse(text, time.LoadLocation)
		if err != nil {
			return
		}
		if again, err := window.Parse(w.String(), time.LoadLocation); err != nil || again.String() != w.String() {
			t.Fatalf("%q is written as %q, which is read as %q, %v", text, w, again, err)
		}
		now := (unix%4_000_000_000 + 4_000_000_000) % 4_000_000_000 * int64(time.Second)
		s := window.Set{w}
		for range 4 {
			opens := s.Opens(now)
			if opens == window.Never {
				t.Fatalf("%v does not open after %v", w, time.Unix(0, now).UTC())
			}
			if opens < now || !s.Open(opens) || opens > now && s.Open(opens-1) {
				t.Fatalf("%v opens at %v: %v, and before that %v", w, time.Unix(0, opens), s.Open(opens),
					s.Open(opens-1))
			}
			closes := s.Closes(opens)
			if closes == window.Never {
				return
			}
			if closes <= opens || s.Open(closes) || !s.Open(closes-1) {
				t.Fatalf("%v closes at %v", w, time.Unix(0, closes))
			}
			now = closes
		}
	})
}

// Package time names the end of a zone's present offset; beyond its tables that may be the present moment.
func TestTheCalendarOfACenturyEndsInEveryZone(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "Europe/Dublin", "Africa/Casablanca", "America/New_York", "America/Santiago",
		"Australia/Lord_Howe", "Asia/Gaza", "Pacific/Apia",
	} {
		s, end, nights := parse(t, "Sun 02:15-02:45 "+name), at(t, "2096-01-01 00:00 +0000"), 0
		for now := at(t, "1996-01-01 00:00 +0000"); now < end; nights++ {
			opens := s.Opens(now)
			if now = s.Closes(opens); now <= opens {
				t.Fatalf("%s: it opens at %v and closes at %v", name, time.Unix(0, opens), time.Unix(0, now))
			}
		}
		if nights < 5200-120 || nights > 5220+120 {
			t.Errorf("%s: %d Sundays in a century", name, nights)
		}
	}
}

// A window is open while the clocks show a time in it, as package time computes it, in any year.
func TestTheClocksAreThoseOfTheZone(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		s := parse(t, "Thu 09:30-17:45 "+name)
		for now := at(t, "1903-01-01 00:00 +0000"); now < at(t, "2099-01-01 00:00 +0000"); now += int64(
			1_234_567 * time.Second) {
			clocks := time.Unix(0, now).In(zone)
			shown := clocks.Format("15:04")
			if want := clocks.Weekday() == time.Thursday && shown >= "09:30" && shown < "17:45"; s.Open(now) != want {
				t.Fatalf("at %v it is open: %v", clocks, !want)
			}
		}
	}
}

// An open window has been open since its last opening; one without an end, since the beginning of the range that is
// looked at.
func TestSinceWhenAWindowHasBeenOpen(t *testing.T) {
	for _, c := range []struct{ window, now, want string }{
		{"22:00-06:00 UTC", "2026-06-05 22:00:00", "2026-06-05 22:00:00"},
		{"22:00-06:00 UTC", "2026-06-05 05:59:59", "2026-06-04 22:00:00"},
		{"22:00-06:00 UTC", "2026-06-05 12:00:00", "2026-06-05 12:00:00"},
		{"Fri 22:00-06:00 UTC", "2026-06-06 01:00:00", "2026-06-05 22:00:00"},
		{"00:00-24:00 UTC", "2026-06-20 12:00:00", "2026-06-05 12:00:00"},
	} {
		moment, err := time.Parse(time.DateTime, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := time.Unix(0, parse(t, c.window).Opened(moment.UnixNano())).UTC().Format(time.DateTime)
		if got != c.want {
			t.Errorf("%s at %s: open since %s, want %s", c.window, c.now, got, c.want)
		}
	}
}
