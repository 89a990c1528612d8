package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Without windows a night begins at nightBegins, when all members are due, and lasts for nightLasts.
const (
	nightBegins = 20 * time.Hour
	nightLasts  = 12 * time.Hour
	// longestNight bounds a night with windows.
	longestNight = 7 * 24 * time.Hour
)

// Timeline is the first night of a fleet: which member runs when.
type Timeline struct {
	Request   Request
	Constants Constants
	// Begins is the time of day at the beginning. Open is how long the windows are open from then on.
	Begins time.Time
	Open   time.Duration
	// Lasts is how much of the night was simulated. That is less than all of it if that is too much work.
	Lasts time.Duration
	// Runs are in the order in which they begin.
	Runs []TimelineRun
}

// TimelineRun is one run. Its times are counted from the beginning of the night. A run that goes on at the end of the
// night ends there.
type TimelineRun struct {
	Member     int
	Begin, End time.Duration
}

// FirstNight simulates the first night of the fleet of a request, with the constants that [Plan] recommends. At its
// beginning all members are due, and one of them has the token; with windows, that is when they open. The same request
// gets the same night. The error is an [*Impossible], or that of ctx.
func FirstNight(ctx context.Context, w Request) (Timeline, error) {
	if err := w.check(); err != nil {
		return Timeline{}, err
	}
	w = w.held()
	k, _ := recommend(&w)
	t := Timeline{
		Request: w, Constants: k, Begins: time.Unix(0, 0).UTC().Add(nightBegins), Open: nightLasts, Lasts: nightLasts,
	}
	var begins policy.Time
	if list := nightsOf(w.Windows); len(list) > 0 {
		first := list[0]
		begins, t.Begins = first.opens, time.Unix(0, sim.Epoch+int64(first.opens)).In(w.Windows[0].Location())
		t.Open = min(first.closes.Sub(first.opens), longestNight)
		t.Lasts = t.Open + 2*w.Op // Runs may go on when the windows close.
	}
	// running is the number of each member's run that goes on, counted from 1.
	running := map[int]int{}
	c := nightWorld(&w, &k, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if at := running[o.Member]; o.EndsRun() && at > 0 {
			t.Runs[at-1].End = o.At.Sub(begins)
			delete(running, o.Member)
		}
		if o.Does(policy.Run) && o.At >= begins {
			t.Runs = append(t.Runs, TimelineRun{Member: o.Member, Begin: o.At.Sub(begins)})
			running[o.Member] = len(t.Runs)
		}
		return nil
	}), within(ctx, new(uint64(nightsWork))))
	err := c.Run(begins.Add(t.Lasts))
	if err != nil && !errors.Is(err, errSpent) {
		return Timeline{}, err
	}
	t.Lasts = min(max(c.Now().Sub(begins), 0), t.Lasts)
	for i := range t.Runs {
		if t.Runs[i].End == 0 {
			t.Runs[i].End = t.Lasts
		}
	}
	return t, nil
}

// load returns the share of the night in which a token is in use, the most members that run at once, and how many have
// run.
func (t *Timeline) load() (busy float64, most, ran int) {
	type edge struct {
		at    time.Duration
		delta int
	}
	var edges []edge
	members := make(map[int]bool)
	for _, r := range t.Runs {
		edges = append(edges, edge{r.Begin, 1}, edge{r.End, -1})
		members[r.Member] = true
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
	})
	running, used, since := 0, time.Duration(0), time.Duration(0)
	for _, e := range edges {
		used += time.Duration(min(running, t.Constants.Slots)) * (e.at - since)
		running, since = running+e.delta, e.at
		most = max(most, running)
	}
	if t.Lasts > 0 {
		busy = used.Seconds() / t.Lasts.Seconds() / float64(t.Constants.Slots)
	}
	return busy, most, len(members)
}

// rows assigns the members to at most most rows, in the order of their first runs. If there are more members than rows,
// several share one.
func (t *Timeline) rows(most int) (rowOf map[int]int, rows int) {
	rowOf = make(map[int]int)
	for _, r := range t.Runs {
		if _, known := rowOf[r.Member]; !known {
			rowOf[r.Member] = len(rowOf)
		}
	}
	each := max((len(rowOf)+most-1)/most, 1)
	for member, row := range rowOf {
		rowOf[member] = row / each
	}
	return rowOf, (len(rowOf) + each - 1) / each
}
