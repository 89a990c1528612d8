package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// Tables implements [Outcome].
func (r *Result) Tables(format report.Format) string {
	slots := r.Scenario.Slots.Of(r.Scenario.Members)
	s := tables{Summary: measure.Across(r.Runs), many: r.Scenario.Seeds > 1, slots: slots}
	var texts []string
	for _, t := range []report.Table{
		s.figures(r.title()), s.levels("Operations at once", "operations", s.Concurrency), s.intervals(),
		s.levels("Tokens alive", "tokens", s.Tokens.Live),
	} {
		texts = append(texts, t.Render(format))
	}
	text := strings.Join(texts, "\n")
	if r.TooShort != "" {
		text += fmt.Sprintf(
			"\nwarning: a lap of the token takes %s, and %s is set too short for that: raise it, or leave it out\n",
			settings.FormatDuration(r.Lap.Round(time.Second)), r.TooShort)
	}
	return text
}

// title describes the scenario, and which of its seeds are complete.
func (b *batch[T]) title() string {
	p := &b.Scenario
	seeds := fmt.Sprintf("seed %d", p.Seed)
	if p.Seeds > 1 {
		seeds = fmt.Sprintf("seeds %d to %d", p.Seed, p.Seed+uint64(p.Seeds)-1)
	}
	title := fmt.Sprintf("%d members for %s, %s", p.Members, settings.FormatDuration(p.Duration), seeds)
	switch {
	case b.Complete == 0:
		title += "; stopped before the end"
	case b.Stopped():
		title += fmt.Sprintf("; stopped after %d of them", b.Complete)
	}
	return title
}

type tables struct {
	measure.Summary
	many bool
	// slots is the number of operations that may run at once.
	slots int
}

// table begins a table; with many seeds each figure has a second column for its confidence interval.
func (s *tables) table(title, first string, figures ...string) report.Table {
	t := report.Table{Title: title, Header: []string{first}}
	for _, f := range figures {
		t.Header = append(t.Header, f)
		if s.many {
			t.Header = append(t.Header, "± 95 %")
		}
	}
	return t
}

func (s *tables) row(label string, write func(float64) string, figures ...measure.Estimate) []string {
	row := []string{label}
	for _, f := range figures {
		row = append(row, write(float64(f.Mean)))
		if s.many {
			row = append(row, write(float64(f.Half)))
		}
	}
	return row
}

func (s *tables) figures(title string) report.Table {
	t := s.table(title, "figure", "value")
	number := func(label string, f measure.Estimate) { t.Rows = append(t.Rows, s.row(label, report.Number, f)) }
	share := func(label string, f measure.Estimate) { t.Rows = append(t.Rows, s.row(label, report.Percent, f)) }
	number("measured time, s", s.Duration)
	share("busy: at least one operation", s.Utilisation)
	tooMany, lastToken := "two or more", "all tokens"
	if s.slots > 1 {
		tooMany, lastToken = fmt.Sprintf("more than %d", s.slots), "all tokens of a slot"
	}
	share("overlap: "+tooMany+" at once", s.Overlap)
	number("operations", s.Operations)
	number("interval of a member, median, s", s.Interval.P50)
	number("  90 % are below, s", s.Interval.P90)
	number("  99 % are below, s", s.Interval.P99)
	number("  longest, s", s.Interval.Max)
	number("  longest that has not ended, s", s.Interval.Open)
	number("tokens made", s.Tokens.Generated)
	number("tokens revived", s.Tokens.Revived)
	number("tokens removed", s.Tokens.Removed)
	number("tokens lost", s.Tokens.Lost)
	number("handoffs", s.Hops)
	number("datagrams", s.Messages)
	number("datagrams per operation", s.MessagesPerOperation)
	spread := func(label string, f *measure.Spread[measure.Estimate]) {
		number(label, f.Count)
		if f.P50.Samples > 0 {
			number("  median, s", f.P50)
			number("  90 % are below, s", f.P90)
			number("  longest, s", f.Max)
		}
	}
	spread("held again after a loss of "+lastToken, &s.HeldAgain)
	spread("one for good after such a loss", &s.OneForGood)
	return t
}

// levels is a table of how long a number had each value.
func (s *tables) levels(title, what string, spent measure.Table[measure.Estimate]) report.Table {
	t := s.table(title, what, "time, s", "share")
	whole := float64(s.Duration.Mean)
	for _, e := range spent {
		row := s.row(report.Number(e.Key), report.Number, e.Value)
		of := func(v float64) string { return report.Percent(v / whole) }
		t.Rows = append(t.Rows, append(row, s.row("", of, e.Value)[1:]...))
	}
	return t
}

func (s *tables) intervals() report.Table {
	t := s.table("Intervals between two operations of one member", "from, s", "intervals")
	for _, e := range s.Interval.Histogram {
		t.Rows = append(t.Rows, s.row(report.Number(e.Key), report.Number, e.Value))
	}
	return t
}
