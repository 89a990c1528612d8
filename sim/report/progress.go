package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Work that ends within patience shows no line. After that, the line changes every refresh.
const (
	patience = 2 * time.Second
	refresh  = 200 * time.Millisecond
)

// Progress is a line on a terminal with the progress of some work and the time left. It is safe for concurrent use.
type Progress struct {
	mutex   sync.Mutex
	w       io.Writer
	columns int
	task    string
	now     func() time.Time
	began   time.Time
	shown   time.Time
}

// NewProgress begins some work now. If columns is zero (no terminal), nothing is shown.
func NewProgress(w io.Writer, columns int, task string, now func() time.Time) *Progress {
	return &Progress{w: w, columns: columns, task: task, now: now, began: now()}
}

// Reached sets the share of the work that is done, from 0 to 1.
func (p *Progress) Reached(share float64) {
	if p.columns <= 0 {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := p.now()
	elapsed := now.Sub(p.began)
	if elapsed < patience || now.Sub(p.shown) < refresh {
		return
	}
	p.shown = now
	p.show(min(max(share, 0), 1), elapsed)
}

// Done removes the line.
func (p *Progress) Done() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.shown.IsZero() {
		p.put("")
		p.shown = time.Time{}
	}
	p.columns = 0
}

func (p *Progress) show(share float64, elapsed time.Duration) {
	const bar = 20
	left := "…"
	if share > 0 {
		left = roughly(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
	}
	full := int(share * bar)
	line := fmt.Sprintf("%s  %s%s  %3.0f %%  %s", p.task, strings.Repeat("█", full), strings.Repeat("░", bar-full),
		100*share, left)
	// A full last column makes some terminals begin a new line.
	p.put(strings.TrimSuffix(cut([]string{line}, p.columns-1), "\n"))
}

// put replaces the line. Its errors do not stop the work.
func (p *Progress) put(line string) { _, _ = fmt.Fprint(p.w, "\r\x1b[K"+line) }

func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
