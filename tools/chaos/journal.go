//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"
)

// hold is one command, as it has recorded itself.
type hold struct {
	seq  uint64
	name string
	pid  int
	// start and last are the first and the last time that it is known to have been alive, by boot time.
	start, last time.Duration
	// ended says that it wrote its end; it was killed otherwise. beside says that the kernel knew of another one at its start.
	ended, beside bool
}

func (h hold) String() string {
	how := "killed after"
	if h.ended {
		how = "until"
	}
	return fmt.Sprintf("%d at %s (process %d) from %.3f s %s %.3f s", h.seq, h.name, h.pid, h.start.Seconds(), how, h.last.Seconds())
}

// read reads a journal; its holds are in the order of their starts. A process number may come again, so a line belongs to the last
// hold that it fits.
func read(journal io.Reader) (holds []hold, err error) {
	type key struct {
		seq uint64
		pid int
	}
	last := map[key]int{}
	lines := bufio.NewScanner(journal)
	for lines.Scan() {
		var what, beside string
		var h hold
		if n, err := fmt.Sscan(lines.Text(), &what, &h.seq, &h.name, &h.pid, &h.start, &beside); n < 5 {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		k := key{h.seq, h.pid}
		if what == "start" {
			h.last, h.beside = h.start, beside == "beside"
			last[k] = len(holds)
			holds = append(holds, h)
			continue
		}
		i, ok := last[k]
		if !ok {
			return nil, fmt.Errorf("line %q: it has not started", lines.Text())
		}
		holds[i].last, holds[i].ended = h.start, what == "end"
	}
	slices.SortStableFunc(holds, func(a, b hold) int { return int(a.start - b.start) })
	return holds, lines.Err()
}
