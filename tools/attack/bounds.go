//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// What has to hold in each row. Amplification and refused files do not depend on how busy the machine is, memory only because a busy one collects
// garbage late: if one of these is exceeded, the exit status says so. The others are judged only if other programs have left the machine alone.
const (
	mostMemory = 64 << 20
	// leastRuns of the 30 that are possible in 15 s.
	leastRuns   = 28.0 / 30
	mostPause   = 2 * time.Second
	mostJoining = 2 * time.Second
	// busyShare of all cores used by others makes a row say so.
	busyShare = 0.15
	perSecond = 100 // USER_HZ, the same on every Linux that Go runs on
)

// usage is processor time that the whole machine and this program have used, in seconds.
type usage struct {
	at         time.Time
	all, inner float64
}

// processors reads the usage. Interrupts are left out: the kernel's work for the attack's own datagrams is among them.
func processors(f *fleet) (u usage) {
	u.at = time.Now()
	stat, _ := os.ReadFile("/proc/stat")
	var user, nice, system float64
	if _, err := fmt.Sscanf(string(stat), "cpu %f %f %f", &user, &nice, &system); err == nil {
		u.all = (user + nice + system) / perSecond
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			u.inner += time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
		}
	}
	for _, used := range f.figures().cpu {
		u.inner += used
	}
	return u
}

// others is the share of all cores that other programs have used since before.
func (u usage) others(before usage) float64 {
	cores := u.at.Sub(before.at).Seconds() * float64(runtime.NumCPU())
	return max(0, (u.all-before.all)-(u.inner-before.inner)) / cores
}

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
