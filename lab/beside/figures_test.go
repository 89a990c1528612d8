package beside

import (
	"fmt"
	"slices"
	"time"
)

// figures are the figures of a fleet.
type figures struct {
	busy, overlap   float64
	p50, p90, p99   time.Duration
	longest         time.Duration
	longestPause    time.Duration
	runs, intervals int
}

// sum puts several results together.
func sum(all ...result) figures {
	var f figures
	var watched, busy, overlap time.Duration
	var intervals []time.Duration
	for _, r := range all {
		type edge struct {
			at time.Duration
			by int
		}
		var edges []edge
		last := map[int]time.Duration{}
		slices.SortFunc(r.runs, func(a, b run) int { return int(a.start - b.start) })
		for _, x := range r.runs {
			if x.end <= r.from || x.start >= r.to {
				continue
			}
			f.runs++
			edges = append(edges, edge{max(x.start, r.from), 1}, edge{min(x.end, r.to), -1})
			if before, ok := last[x.member]; ok {
				intervals = append(intervals, x.start-before)
			}
			last[x.member] = x.start
		}
		slices.SortStableFunc(edges, func(a, b edge) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			return a.by - b.by
		})
		running, at := 0, r.from
		for _, e := range append(edges, edge{r.to, 0}) {
			switch d := e.at - at; {
			case running == 0:
				f.longestPause = max(f.longestPause, d)
			case running > 1:
				overlap += d
				fallthrough
			default:
				busy += d
			}
			running += e.by
			at = e.at
		}
		watched += r.to - r.from
	}
	slices.Sort(intervals)
	f.intervals = len(intervals)
	f.busy, f.overlap = float64(busy)/float64(watched), float64(overlap)/float64(watched)
	at := func(q float64) time.Duration { return intervals[int(q*float64(len(intervals)-1))] }
	f.p50, f.p90, f.p99, f.longest = at(0.5), at(0.9), at(0.99), at(1)
	return f
}

func (f figures) String() string {
	s := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
	return fmt.Sprintf(
		"busy %.1f %%, overlap %.2f %%, interval p50 %s p90 %s p99 %s longest %s s, longest pause %s s (%d runs)",
		100*f.busy, 100*f.overlap, s(f.p50), s(f.p90), s(f.p99), s(f.longest), s(f.longestPause), f.runs)
}
