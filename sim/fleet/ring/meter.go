package ring

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// Figures are what a run came to.
type Figures struct {
	// Requests is how many demands there were, Served how many runs.
	Requests, Served int
	// TokenMoves and RequestMessages are hops of the token and of requests, each counted once, however many datagrams it took. Datagrams
	// are all messages that were sent, copies of the token and repetitions among them.
	TokenMoves, RequestMessages, Datagrams int
	// ServiceTraffic is the greatest number of messages, in the same units, that arrived from a demand to its run. Links are to be paper ones.
	ServiceTraffic int
	// Regenerated is how often the token was made anew.
	Regenerated int
	// Obtaining is how long it took from a demand to its run.
	Obtaining Obtaining
	// Busy is the share of the time with at least one run, Overlap that with two or more.
	Busy, Overlap float64
}

// MessagesPerRequest is in the paper's units; not a number without requests.
func (f *Figures) MessagesPerRequest() float64 {
	return float64(f.TokenMoves+f.RequestMessages) / float64(f.Requests)
}

// Obtaining is a distribution of times in seconds, not a number if there is none.
type Obtaining struct{ P50, P90, P99, Max, Mean float64 }

// Meter measures one run. It is a [sim.Watcher] that never has an error.
type Meter struct {
	figures Figures
	// asked is when a member began to wait; never, if it does not.
	asked []policy.Time
	// delivered is how many messages have arrived, before how many had when a member began to wait.
	delivered   int
	before      []int
	obtaining   *hdrhistogram.Histogram
	longest     time.Duration
	total       time.Duration
	concurrency *measure.Concurrency
}

// resolution of the times, of which three digits are kept.
const resolution = time.Microsecond

// NewMeter returns a meter of one run.
func NewMeter(members int) *Meter {
	m := &Meter{
		asked: make([]policy.Time, members), before: make([]int, members), concurrency: measure.NewConcurrency(),
		obtaining: hdrhistogram.New(1, math.MaxInt64/int64(resolution), 3),
	}
	for i := range m.asked {
		m.asked[i] = policy.Never
	}
	return m
}

// Watch measures.
func (m *Meter) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		m.asked[o.Member] = policy.Never
	}
	if o.Kind == sim.Stepped {
		m.step(o)
	}
	return m.concurrency.Watch(c, o)
}

func (m *Meter) step(o *sim.Occurrence) {
	switch o.Event.Kind {
	case policy.Wanted:
		if m.asked[o.Member] == policy.Never {
			m.asked[o.Member], m.before[o.Member] = o.At, m.delivered
			m.figures.Requests++
		}
	case policy.Unwanted:
		m.asked[o.Member] = policy.Never
	case policy.Received:
		if delivers(o) {
			m.delivered++
		}
	case policy.Started, policy.PeersChanged, policy.Saved, policy.Finished, policy.Suspended, policy.Leave, policy.Woke:
	}
	for i := range o.Effects {
		m.effect(o, &o.Effects[i])
	}
}

func (m *Meter) effect(o *sim.Occurrence, e *policy.Effect) {
	switch e.Kind {
	case policy.Send:
		m.figures.Datagrams++
		if e.Msg.Kind == ring.KindRequest && !ring.Repeats(&e.Msg) {
			m.figures.RequestMessages++
		}
	case policy.Gave:
		if e.Cause == policy.CausePassed {
			m.figures.TokenMoves++
		}
	case policy.Took:
		if e.Cause == policy.CauseRevived {
			m.figures.Regenerated++
		}
	case policy.Run:
		m.figures.Served++
		if asked := m.asked[o.Member]; asked != policy.Never {
			m.obtained(o.At.Sub(asked))
			m.figures.ServiceTraffic = max(m.figures.ServiceTraffic, m.delivered-m.before[o.Member])
		}
		m.asked[o.Member] = policy.Never
	case policy.Save, policy.Extend, policy.Stop, policy.Entrust, policy.Announce, policy.Tell, policy.Gone:
	}
}

func (m *Meter) obtained(d time.Duration) {
	m.longest = max(m.longest, d)
	m.total += d
	// Every duration there can be is within the histogram's range.
	_ = m.obtaining.RecordValue(int64(d / resolution))
}

// Figures returns what the run came to by now.
func (m *Meter) Figures(now policy.Time) Figures {
	f := m.figures
	f.Obtaining = m.distribution()
	for running, d := range m.concurrency.Spent(now) {
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

func (m *Meter) distribution() Obtaining {
	n := m.obtaining.TotalCount()
	if n == 0 {
		none := math.NaN()
		return Obtaining{none, none, none, none, none}
	}
	quantile := func(percent float64) float64 {
		return min(time.Duration(m.obtaining.ValueAtPercentile(percent))*resolution, m.longest).Seconds()
	}
	return Obtaining{
		P50: quantile(50), P90: quantile(90), P99: quantile(99), Max: m.longest.Seconds(), Mean: m.total.Seconds() / float64(n),
	}
}
