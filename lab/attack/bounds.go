//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"
)

// What has to hold in each row. Amplification and refused files do not depend on how busy the machine is, memory only
// because a busy one collects garbage late: if one of these is exceeded, the exit status says so. The others are judged
// only if other programs have left the machine alone.
const (
	mostMemory = 64 << 20
	// leastRuns of the 30 that are possible in 15 s.
	leastRuns   = 28.0 / 30
	mostPause   = 2 * time.Second
	mostJoining = 2 * time.Second
	// busyShare of all cores used by others makes a row say so.
	busyShare = 0.15
)

// verdict says which bounds a row has missed. hard are those that depend on no load.
func verdict(f *fleet, s summary, revived int, memory, others float64) (text string, hard bool) {
	exceeded := f.exceeded
	tooMuch := memory > mostMemory
	if tooMuch && others <= busyShare {
		exceeded = append(exceeded, fmt.Sprintf("memory above %d MiB", mostMemory>>20))
	}
	var missed []string
	miss := func(is bool, what string) {
		if is {
			missed = append(missed, what)
		}
	}
	miss(tooMuch, "memory")
	miss(float64(s.runs) < leastRuns*possible(f.length), "runs")
	miss(s.pause > mostPause, "pause")
	miss(s.overlap > 0, "overlap")
	miss(revived > 0, "revived")
	miss(f.joining > mostJoining, "join")
	switch list := strings.Join(missed, ", "); {
	case len(exceeded) > 0:
		return "EXCEEDS " + strings.Join(exceeded, ", "), true
	case len(missed) == 0:
		return "holds", false
	case f.attack.open:
		return "known: " + list, false
	case others > busyShare:
		return "busy: " + list, false
	default:
		return "MISSES " + list, false
	}
}
