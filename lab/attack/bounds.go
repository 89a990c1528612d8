//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"
)

// The bounds of each row. Amplification and refused files do not depend on how busy the machine is. Memory does only
// because a busy machine collects garbage late. If one of these bounds is exceeded, the exit status shows it. The other
// bounds are judged only if other programs have left the machine alone.
const (
	mostMemory = 64 << 20
	// leastRuns is the least share of the 30 runs that are possible in 15 s.
	leastRuns   = 28.0 / 30
	mostPause   = 2 * time.Second
	mostJoining = 2 * time.Second
	// busyShare is the share of all cores, used by other programs, from which a row is marked as busy.
	busyShare = 0.15
)

// verdict returns which bounds a row has missed. hard are those that depend on no load.
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
