package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
)

// Nights reports whether every member gets its turn while the windows of a gate are open. A night is the time from an
// opening to the next one.
type Nights struct {
	Windows []string `json:"windows"`
	Members int      `json:"members"`
	// Simulated is how many nights were simulated, from June 2, 2007 on. All members are due at the first night.
	Simulated int `json:"nights"`
	// Shortest is how long the shortest night is open, in seconds. Fits is the number of runs for which that is enough,
	// by theory.
	Shortest float64 `json:"shortest_open_s"`
	Fits     int     `json:"runs_that_fit"`
	// Fewest is how many members ran in the night with the fewest. LastStart is the longest time from an opening to the
	// first run of the last member, in seconds.
	Fewest    int     `json:"fewest_members"`
	LastStart float64 `json:"last_start_s"`
}

const (
	// mostNights bounds the number of nights that are simulated, nightsWork the number of their steps.
	mostNights = 7
	nightsWork = 6_000_000
)

// night is the time of one night: it is open from opens to closes, and the next one opens at next.
type night struct{ opens, closes, next policy.Time }

// nightsOf returns the first whole nights of a simulation. There are none if it is always open.
func nightsOf(s window.Set) (list []night) {
	at := func(wall int64) policy.Time { return policy.Time(wall - sim.Epoch) }
	opens := s.Closes(sim.Epoch) // A night that has begun already would be shorter than it is.
	if opens == window.Never {
		return nil
	}
	for opens = s.Opens(opens); len(list) < mostNights; {
		closes := s.Closes(opens)
		next := s.Opens(closes)
		list = append(list, night{at(opens), at(closes), at(next)})
		opens = next
	}
	return list
}

// dueEachNight returns a min_interval with which a member is due again whenever a night begins: the shortest time for
// which all windows are closed.
func dueEachNight(s window.Set) time.Duration {
	var shortest time.Duration
	for _, n := range nightsOf(s) {
		if closed := n.next.Sub(n.closes); shortest == 0 || closed < shortest {
			shortest = closed
		}
	}
	return shortest
}

// eachNight returns the longest time from one opening to the next: members that are to run less often need not run in
// each night.
func eachNight(s window.Set) (longest time.Duration) {
	for _, n := range nightsOf(s) {
		longest = max(longest, n.next.Sub(n.opens))
	}
	return longest
}

func texts(s window.Set) (list []string) {
	for i := range s {
		list = append(list, s[i].String())
	}
	return list
}

// suffice reports whether every member runs in each night. If none was simulated, it reports this by theory.
func (a *Nights) suffice() bool {
	if a.Simulated == 0 {
		return a.Fits >= a.Members
	}
	return a.Fewest == a.Members
}

func (a *Nights) text() string {
	fits := fmt.Sprintf("the shortest night is open for %s, which is enough for %d runs", spoken(a.Shortest), a.Fits)
	switch {
	case a.Simulated == 0:
		return "not simulated, because a night takes too much work: " + fits
	case a.suffice():
		return fmt.Sprintf("Everybody runs in each of %d nights; the last one begins %s after the opening; %s.",
			a.Simulated, spoken(a.LastStart), fits)
	}
	return fmt.Sprintf("NOT everybody runs in each of %d nights: in the worst, %d of %d; %s. Make the windows "+
		"longer, raise slots, or let every be longer than a night.",
		a.Simulated, a.Fewest, a.Members, fits)
}

// nightWorld returns the fleet of a request, whose members are all due. Guardians are not simulated: here they would
// only add work.
func nightWorld(w *Request, k *Constants, watchers ...sim.Watcher) *sim.Cluster {
	s := w.scenario(k, w.Seed, w.Members)
	s.Windows, s.MaxInterval = &w.Windows, max(k.MaxInterval, longest/12)
	c := s.NewCluster(watchers...)
	c.BootWithToken(0)
	return c
}

func simulateNights(ctx context.Context, w *Request, k *Constants) (*Nights, error) {
	list := nightsOf(w.Windows)
	if len(list) == 0 {
		return nil, nil
	}
	shortest := list[0].closes.Sub(list[0].opens)
	a := &Nights{Members: w.Members, Fewest: w.Members, Windows: texts(w.Windows)}
	// ran are the members that have run in this night. last is when the last of them began.
	ran, last := map[int]bool{}, policy.Time(0)
	c := nightWorld(w, k, sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.Does(policy.Run) && !ran[o.Member] {
			ran[o.Member], last = true, o.At
		}
		return nil
	}), within(ctx, new(uint64(nightsWork))))
	for _, n := range list {
		err := c.Run(n.opens - 1) // Some members start at the moment of the opening.
		clear(ran)
		last = n.opens
		if err == nil {
			err = c.Run(n.closes)
		}
		if errors.Is(err, errSpent) {
			break
		}
		if err != nil {
			return nil, err
		}
		shortest = min(shortest, n.closes.Sub(n.opens))
		a.Simulated++
		a.Fewest, a.LastStart = min(a.Fewest, len(ran)), max(a.LastStart, last.Sub(n.opens).Seconds())
	}
	a.Shortest, a.Fits = shortest.Seconds(), int(shortest/k.Op)*k.Slots
	return a, nil
}
