//go:build linux

package main

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// verdict is what a journal shows about a lock with rising fencing numbers.
type verdict struct {
	holds, killed int
	// overlaps is the number of starts while another command was alive. longest is the longest time for which two of
	// them were known to be alive.
	overlaps int
	longest  time.Duration
	// falls is the number of fencing numbers that are not greater than an earlier one.
	falls int
	// pause is the longest time in which no command started.
	pause time.Duration
	// faults are the first faults, in words.
	faults []string
}

// mostFaults is how many of them are reported.
const mostFaults = 10

// sweep goes through holds in the order of their starts.
//
// Two rules make a lock with fencing numbers: no command starts while another one is alive, and every number is greater
// than all earlier ones.
func sweep(holds []hosts.Hold) (v verdict) {
	tell := func(format string, args ...any) {
		if len(v.faults) < mostFaults {
			v.faults = append(v.faults, fmt.Sprintf(format, args...))
		}
	}
	var latest, greatest hosts.Hold // the command that was alive last of all, and the one with the greatest number
	for i, h := range holds {
		v.holds++
		if !h.Ended {
			v.killed++
		}
		if i > 0 {
			v.pause = max(v.pause, h.Start-holds[i-1].Start)
			switch {
			case h.Start < latest.Last:
				v.overlaps++
				v.longest = max(v.longest, min(h.Last, latest.Last)-h.Start)
				tell("%s begins beside %s", h, latest)
			case h.Beside:
				v.overlaps++
				tell("%s begins while another one lives; the last one known is %s", h, latest)
			}
			if h.Seq <= greatest.Seq {
				v.falls++
				tell("%s is not above %s", h, greatest)
			}
		}
		if h.Last > latest.Last {
			latest = h
		}
		if h.Seq > greatest.Seq {
			greatest = h
		}
	}
	return v
}

// strict reports whether the journal is that of a strict gate.
func (v *verdict) strict() bool { return v.overlaps == 0 && v.falls == 0 }
