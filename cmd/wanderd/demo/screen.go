package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// screen draws the record: on a terminal a picture at a fixed place, elsewhere one line for each event.
type screen struct {
	cfg  Config
	tool string
	rec  *record
	// drawn is how many lines the last picture had, said how many events have been printed.
	drawn, said int
}

const (
	frame   = 100 * time.Millisecond
	history = 6
)

func (s *screen) draw(ctx context.Context) {
	s.printf("%d agents on loopback, each copies %d KiB with %s every %s while it holds the token\n\n",
		s.cfg.Members, treeFiles*treeFileSize>>10, s.tool, minInterval)
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if s.cfg.Terminal {
			s.picture()
		} else {
			s.lines()
		}
	}
}

func (s *screen) lines() {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	for _, e := range s.rec.events[s.said:] {
		s.printf("%s\n", e)
	}
	s.said = len(s.rec.events)
}

// picture draws all members, in place of the last picture.
func (s *screen) picture() {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	now := time.Now()
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	s.drawn = 0
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, "\x1b[2K"+format+"\n", args...)
		s.drawn++
	}
	for _, r := range s.rec.rows() {
		mark, doing, ago := " ", "", "has not run yet"
		if r.Holding {
			mark, doing = "\x1b[32m●\x1b[0m", "holds the token"
		}
		if r.Running {
			doing = "\x1b[1mcopies\x1b[0m          "
		}
		if r.Runs > 0 {
			ago = fmt.Sprintf("ran %4.1f s ago, %d times", now.Sub(r.LastRun).Seconds(), r.Runs)
		}
		line("  %s %-10s %-16s %s", mark, r.Name, doing, ago)
	}
	line("")
	recent := s.rec.events[max(len(s.rec.events)-history, 0):]
	for _, e := range recent {
		line("  %s", e)
	}
	for range history - len(recent) {
		line("")
	}
	line("  %s of %s; Ctrl-C ends it", now.Sub(s.rec.begin).Round(time.Second), s.cfg.For)
	_, _ = io.WriteString(s.cfg.Out, b.String())
}

func (s *screen) printf(format string, args ...any) { _, _ = fmt.Fprintf(s.cfg.Out, format, args...) }
