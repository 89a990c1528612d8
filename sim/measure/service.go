package measure

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Service measures how the demands of a fleet are served: how long each waits, how fairly, at what cost, and how many
// runs there are at once. It is a [sim.Watcher] that never has an error.
type Service struct {
	// askedAt is when each member began to wait; never, if it does not wait.
	askedAt []policy.Time
	// waited is how long each member has waited in all its demands that were served. served is how many those were.
	waited []time.Duration
	served []int
	asked  int
	// datagrams counts the messages that were sent.
	datagrams   int
	obtaining   intervals
	concurrency *Concurrency
}

// Served are the figures of a [Service].
type Served struct {
	// Demands is the number of demands. Runs is how many of them were served. Datagrams is the number of messages that
	// were sent.
	Demands, Runs, Datagrams int
	// Obtaining is the time from a demand to its run.
	Obtaining Obtaining
	// Fairness is Jain's index of the members' mean waits: (Σw)² / (n Σw²). It is 1 if all wait equally long and 1/n if
	// only one member waits. It is NaN if no demand was served.
	Fairness float64
	// Busy is the share of the time with at least one run. Overlap is the share with two or more.
	Busy, Overlap float64
}

// Obtaining is a distribution of times, in seconds. Its values are NaN if there are none.
type Obtaining struct{ P50, P90, P99, Max, Mean float64 }

// NewService returns a measurement of one run.
func NewService(members int) *Service {
	return &Service{
		askedAt: slices.Repeat([]policy.Time{policy.Never}, members), waited: make([]time.Duration, members),
		served:    make([]int, members),
		obtaining: newIntervals(0), concurrency: NewConcurrency(),
	}
}

// Watch implements [sim.Watcher].
func (s *Service) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	at := &s.askedAt[o.Member]
	switch {
	case o.Ends() || o.On(policy.Unwanted):
		*at = policy.Never
	case o.On(policy.Wanted) && *at == policy.Never:
		*at = o.At
		s.asked++
	}
	for i := range o.Effects {
		switch {
		case o.Effects[i].Kind == policy.Send:
			s.datagrams++
		case o.Effects[i].Kind == policy.Run && *at != policy.Never:
			s.waited[o.Member] += o.At.Sub(*at)
			s.served[o.Member]++
			s.obtaining.add(o.At.Sub(*at))
			*at = policy.Never
		}
	}
	return s.concurrency.Watch(c, o)
}

// Served returns the figures of the run until now.
func (s *Service) Served(now policy.Time) Served {
	f := Served{Demands: s.asked, Datagrams: s.datagrams, Fairness: s.fairness()}
	var waited time.Duration
	for i, n := range s.served {
		f.Runs += n
		waited += s.waited[i]
	}
	d := s.obtaining.figures()
	f.Obtaining = Obtaining{
		float64(d.P50), float64(d.P90), float64(d.P99), float64(d.Max), waited.Seconds() / float64(f.Runs),
	}
	for running, d := range s.concurrency.Spent(now) {
		share := d.Seconds() / time.Duration(now).Seconds()
		if running > 0 {
			f.Busy += share
		}
		if running > 1 {
			f.Overlap += share
		}
	}
	return f
}

func (s *Service) fairness() float64 {
	var n, sum, squares float64
	for i, served := range s.served {
		if served > 0 {
			mean := s.waited[i].Seconds() / float64(served)
			n, sum, squares = n+1, sum+mean, squares+mean*mean
		}
	}
	return sum * sum / (n * squares)
}
