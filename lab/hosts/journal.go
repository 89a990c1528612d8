//go:build linux

package hosts

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"
)

// Hold is one command, as it has recorded itself.
type Hold struct {
	Seq  uint64
	Name string
	PID  int
	// Start and Last are the first and the last time at which the command is known to have been alive, by the clock of
	// its journal.
	Start, Last time.Duration
	// Ended is true if the command wrote its end; otherwise it was killed. Beside is true if the kernel knew of another
	// one at its start.
	Ended, Beside bool
}

func (h Hold) String() string {
	how := "killed after"
	if h.Ended {
		how = "until"
	}
	return fmt.Sprintf("%d at %s (process %d) from %.3f s %s %.3f s", h.Seq, h.Name, h.PID, h.Start.Seconds(), how,
		h.Last.Seconds())
}

// ReadJournal reads what commands have recorded, one line for each record:
//
//	what seq name pid nanoseconds [alone|beside]
//
// It returns the holds in the order of their starts. A process number may come again, so a line belongs to the last
// hold that it fits.
func ReadJournal(journal io.Reader) (holds []Hold, err error) {
	type key struct {
		seq uint64
		pid int
	}
	last := map[key]int{}
	lines := bufio.NewScanner(journal)
	for lines.Scan() {
		var what, beside string
		var h Hold
		if n, err := fmt.Sscan(lines.Text(), &what, &h.Seq, &h.Name, &h.PID, &h.Start, &beside); n < 5 {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		k := key{h.Seq, h.PID}
		if what == "start" {
			h.Last, h.Beside = h.Start, beside == "beside"
			last[k] = len(holds)
			holds = append(holds, h)
			continue
		}
		i, ok := last[k]
		if !ok {
			return nil, fmt.Errorf("line %q: it has not started", lines.Text())
		}
		holds[i].Last, holds[i].Ended = h.Start, what == "end"
	}
	slices.SortStableFunc(holds, func(a, b Hold) int { return int(a.Start - b.Start) })
	return holds, lines.Err()
}
