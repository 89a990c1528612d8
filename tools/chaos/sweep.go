//go:build linux

package main

import (
	"fmt"
	"time"
)

// verdict is what a journal says of a lock with rising fencing numbers.
type verdict struct {
	holds, killed int
	// overlaps are starts while another command was alive, longest is the longest time that two of them were known to be.
	overlaps int
	longest  time.Duration
	// falls are numbers that are not greater than one before.
	falls int
	// pause is the longest time in which nobody started.
	pause time.Duration
	// faults are the first ones, in words.
	faults []string
}

// mostFaults is how many of them are told.
const mostFaults = 10

// sweep goes through holds in the order of their starts.
//
// Two rules make a lock with fencing numbers: nothing starts while something else is alive, and every number is greater than all before.
func sweep(holds []hold) (v verdict) {
	tell := func(format string, args ...any) {
		if len(v.faults) < mostFaults {
			v.faults = append(v.faults, fmt.Sprintf(format, args...))
		}
	}
	var latest, greatest hold // the one that was alive last of all, and the one with the greatest number
	for i, h := range holds {
		v.holds++
		if !h.ended {
			v.killed++
		}
		if i > 0 {
			v.pause = max(v.pause, h.start-holds[i-1].start)
			switch {
			case h.start < latest.last:
				v.overlaps++
				v.longest = max(v.longest, min(h.last, latest.last)-h.start)
				tell("%s begins beside %s", h, latest)
			case h.beside:
				v.overlaps++
				tell("%s begins while another one lives; the last one known is %s", h, latest)
			}
			if h.seq <= greatest.seq {
				v.falls++
				tell("%s is not above %s", h, greatest)
			}
		}
		if h.last > latest.last {
			latest = h
		}
		if h.seq > greatest.seq {
			greatest = h
		}
	}
	return v
}

// strict reports whether the journal is that of a strict gate.
func (v *verdict) strict() bool { return v.overlaps == 0 && v.falls == 0 }
