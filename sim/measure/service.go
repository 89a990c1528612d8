package measure

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Service measures how the demands of a fleet are served: how long each waits, how fairly, at what cost, and how much runs at once. It is a
// [sim.Watcher] that never has an error.
type Service struct {
	// askedAt is when a member began to wait; never, if it does not.
	askedAt []policy.Time
	// waited is how long each member has waited in all its demands that were served, served how many those were.
	waited []time.Duration
	served []int
	asked  int
	// datagrams are the messages that were sent.
	datagrams   int
	longest     time.Duration
	obtaining   *hdrhistogram.Histogram
	concurrency *Concurrency
}

// Served are the figures of a [Service].
type Served struct {
	// Demands is how many there were, Runs how many were served. Datagrams are all that were sent.
	Demands, Runs, Datagrams int
	// Obtaining is how long it took from a demand to its run.
	Obtaining Obtaining
	// Fairness is Jain's index of the members' mean waits: (Σw)² / (n Σw²), 1 if all wait equally long and 1/n if one alone waits. Not a
	// number if nobody was served.
	Fairness float64
	// Busy is the share of the time with at least one run, Overlap that with two or more.
	Busy, Overlap float64
}

// Obtaining is a distribution of times in seconds, not a number if there is none.
type Obtaining struct{ P50, P90, P99, Max, Mean float64 }

// obtainingStep is the resolution of obtaining times, of which three digits are kept.
const obtainingStep = time.Microsecond

// NewService returns a measurement of one run.
func NewService(members int) *Service {
	s := &Service{
		askedAt: make([]policy.Time, members), waited: make([]time.Duration, members), served: make([]int, members),
		obtaining: hdrhistogram.New(1, math.MaxInt64/int64(obtainingStep), 3), concurrency: NewConcurrency(),
	}
	for i := range s.askedAt {
		s.askedAt[i] = policy.Never
	}
	return s
}

// Watch implements [sim.Watcher].
func (s *Service) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		s.askedAt[o.Member] = policy.Never
	}
	if o.Kind == sim.Stepped {
		s.step(o)
	}
	return s.concurrency.Watch(c, o)
}

func (s *Service) step(o *sim.Occurrence) {
	at := &s.askedAt[o.Member]
	switch {
	case o.Event.Kind == policy.Unwanted:
		*at = policy.Never
	case o.Event.Kind == policy.Wanted && *at == policy.Never:
		*at = o.At
		s.asked++
	}
	for i := range o.Effects {
		switch {
		case o.Effects[i].Kind == policy.Send:
			s.datagrams++
		case o.Effects[i].Kind == policy.Run && *at != policy.Never:
			s.serve(o.Member, o.At.Sub(*at))
			*at = policy.Never
		}
	}
}

func (s *Service) serve(member int, after time.Duration) {
	s.waited[member] += after
	s.served[member]++
	s.longest = max(s.longest, after)
	// Every duration there can be is within the histogram's range.
	_ = s.obtaining.RecordValue(int64(after / obtainingStep))
}

// Served returns the figures of the run by now.
func (s *Service) Served(now policy.Time) Served {
	f := Served{Demands: s.asked, Datagrams: s.datagrams, Fairness: s.fairness(), Obtaining: s.distribution()}
	for _, n := range s.served {
		f.Runs += n
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

func (s *Service) distribution() Obtaining {
	n := s.obtaining.TotalCount()
	if n == 0 {
		none := math.NaN()
		return Obtaining{none, none, none, none, none}
	}
	quantile := func(percent float64) float64 {
		return min(time.Duration(s.obtaining.ValueAtPercentile(percent))*obtainingStep, s.longest).Seconds()
	}
	var total time.Duration
	for _, waited := range s.waited {
		total += waited
	}
	return Obtaining{
		P50: quantile(50), P90: quantile(90), P99: quantile(99), Max: s.longest.Seconds(), Mean: total.Seconds() / float64(n),
	}
}
