package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// page is the page with what has come of all families.
type page struct {
	path    string
	began   time.Time
	tallies []*tally
}

// broken is how many seeds broke a rule.
func (p *page) broken() (n int) {
	for _, t := range p.tallies {
		n += len(t.total.broken)
	}
	return n
}

// write writes the page as a whole: whoever reads it meanwhile sees this one or the last.
func (p *page) write() error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
		return err
	}
	next := p.path + ".next"
	if err := os.WriteFile(next, []byte(p.text()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, p.path)
}

func (p *page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Hunts\n\nBegun %s, %s so far, on %d cores.\n\n", p.began.UTC().Format("2006-01-02 15:04"),
		time.Since(p.began).Round(time.Second), runtime.GOMAXPROCS(0))
	b.WriteString("| hunted | seeds | the next one | a second | broke a rule |\n|---|---|---|---|---|\n")
	for _, t := range p.tallies {
		fmt.Fprintf(&b, "| %s | %d | %d | %.0f | %d |\n", t.title(), t.total.seeds, t.next,
			float64(t.total.seeds)/max(t.took.Seconds(), 1e-3), len(t.total.broken))
	}
	b.WriteString("\n## What broke a rule\n\n")
	if p.broken() == 0 {
		b.WriteString("Nothing.\n")
	}
	for _, t := range p.tallies {
		for _, found := range t.total.broken {
			fmt.Fprintf(&b, "- %s, %s: %s\n\n      %s\n", t.title(), found.number(), found.rule, found.show)
			if s := &found.smaller; s.file != "" {
				fmt.Fprintf(&b, "      %s%s\n", s.replay, s.file)
			}
		}
		if t.total.err != nil {
			fmt.Fprintf(&b, "- %s: not hunted: %v\n", t.title(), t.total.err)
		}
	}
	b.WriteString("\n## What never occurred\n\nOf what has to occur, where there is a list of that:\n\n")
	for _, t := range p.tallies {
		if len(t.total.never) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", t.title(), strings.Join(t.total.never, ", "))
		}
	}
	p.writeMarks(&b)
	b.WriteString("\n## What was drawn\n\nThe part of the seeds that have drawn each of these, rarest first.\n")
	for _, t := range p.tallies {
		if len(t.total.drawn) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", t.title())
		for _, what := range rarestFirst(t.total.drawn) {
			share := 100 * float64(t.total.drawn[what]) / float64(max(t.total.seeds, 1))
			fmt.Fprintf(&b, "- %s: %.1f %% (%d)\n", what, share, t.total.drawn[what])
		}
	}
	return b.String()
}

// rarestFirst returns the names, the least often drawn one first.
func rarestFirst(drawn map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(drawn), func(a, b string) int {
		return cmp.Or(cmp.Compare(drawn[a], drawn[b]), cmp.Compare(a, b))
	})
}

// writeMarks writes which rare branches the machines have taken.
func (p *page) writeMarks(b *strings.Builder) {
	b.WriteString("\n## Rare branches\n\nThose that machines mark, where they mark any: never taken, and how often, " +
		"rarest first.\n")
	for _, t := range p.tallies {
		m := &t.total.marks
		if m.pairs == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n%d of %d reached, in %d pairs.\n\n", t.title(), len(m.often),
			len(m.often)+len(m.never), m.pairs)
		for _, name := range m.never {
			fmt.Fprintf(b, "- %s: never\n", name)
		}
		for _, name := range rarestFirst(m.often) {
			fmt.Fprintf(b, "- %s: %d\n", name, m.often[name])
		}
	}
}
