package report

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// work is a clock and a terminal.
type work struct {
	strings.Builder
	clock time.Time
}

func (w *work) now() time.Time { return w.clock }

func (w *work) after(d time.Duration, p *Progress, share float64) string {
	w.Reset()
	w.clock = w.clock.Add(d)
	p.Reached(share)
	return w.String()
}

func begin(columns int) (*work, *Progress) {
	w := &work{clock: time.Unix(1e9, 0)}
	return w, NewProgress(w, columns, "wander-stable", w.now)
}

func TestTheTimeLeftIsShownAfterTwoSeconds(t *testing.T) {
	w, p := begin(80)
	for range 19 {
		if got := w.after(100*time.Millisecond, p, 0.1); got != "" {
			t.Fatalf("shown early: %q", got)
		}
	}
	if got, want := w.after(100*time.Millisecond, p, 0.1),
		"\r\x1b[Kwander-stable  ██░░░░░░░░░░░░░░░░░░   10 %  19 s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := w.after(100*time.Millisecond, p, 0.2); got != "" {
		t.Errorf("shown too often: %q", got)
	}
	if got := w.after(time.Hour, p, 0.5); !strings.Contains(got, " 50 %  1 h 00 min left") {
		t.Errorf("half of it: %q", got)
	}
	w.Reset()
	p.Done()
	if got := w.String(); got != "\r\x1b[K" {
		t.Errorf("at the end: %q", got)
	}
	if got := w.after(time.Hour, p, 1); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

func TestShortWorkShowsNothing(t *testing.T) {
	w, p := begin(80)
	w.after(1900*time.Millisecond, p, 0.99)
	p.Done()
	if got := w.String(); got != "" {
		t.Errorf("shown: %q", got)
	}
}

func TestWithoutATerminalNothingIsShown(t *testing.T) {
	w, p := begin(0)
	if got := w.after(time.Minute, p, 0.5); got != "" {
		t.Errorf("shown: %q", got)
	}
	p.Done()
	if got := w.String(); got != "" {
		t.Errorf("shown at the end: %q", got)
	}
}

func TestTheLineNeverReachesTheLastColumn(t *testing.T) {
	for _, columns := range []int{1, 2, 10, 40, 60} {
		w, p := begin(columns)
		line := strings.TrimPrefix(w.after(time.Minute, p, 0.5), "\r\x1b[K")
		if letterCount(line) >= columns {
			t.Errorf("in %d columns: %q", columns, line)
		}
	}
}

func TestNothingDoneYetHasNoTimeLeft(t *testing.T) {
	w, p := begin(80)
	if got := w.after(time.Minute, p, 0); !strings.HasSuffix(got, "  0 %  …") {
		t.Errorf("%q", got)
	}
}

func TestManyMayReportProgressAtOnce(t *testing.T) {
	w, p := begin(80)
	w.clock = w.clock.Add(time.Minute)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { p.Reached(float64(i) / 8) })
	}
	all.Wait()
	if lines := strings.Count(w.String(), "\r"); lines != 1 {
		t.Errorf("%d lines at one time, want one", lines)
	}
}
