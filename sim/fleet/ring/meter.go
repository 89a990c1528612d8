package ring

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// Figures are the figures of a run. Datagrams counts all messages that were sent, including copies of the token and
// repetitions.
type Figures struct {
	measure.Served
	// TokenMoves and RequestMessages count the hops of the token and of requests, each hop once, however many datagrams
	// it took.
	TokenMoves, RequestMessages int
	// ServiceTraffic is the greatest number of messages, in the same units, that arrived from a demand to its run. It
	// needs paper links.
	ServiceTraffic int
	// Regenerated is how often the token was regenerated.
	Regenerated int
}

// MessagesPerRequest is in the paper's units. It is NaN if there were no requests.
func (f *Figures) MessagesPerRequest() float64 {
	return float64(f.TokenMoves+f.RequestMessages) / float64(f.Demands)
}

// Meter measures one run. It is a [sim.Watcher] that never has an error.
type Meter struct {
	service *measure.Service
	figures Figures
	// delivered is how many messages have arrived. before is how many had arrived when each member began to wait; none,
	// if it does not wait.
	delivered int
	before    []int
}

const none = -1

// NewMeter returns a meter of one run.
func NewMeter(members int) *Meter {
	return &Meter{service: measure.NewService(members), before: slices.Repeat([]int{none}, members)}
}

// Watch measures.
func (m *Meter) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	before := &m.before[o.Member]
	switch {
	case o.On(policy.Wanted) && *before == none:
		*before = m.delivered
	case o.Ends() || o.On(policy.Unwanted):
		*before = none
	case o.On(policy.Received) && delivers(o):
		m.delivered++
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		switch {
		case e.Kind == policy.Send && e.Msg.Kind == ring.KindRequest && !ring.Repeats(&e.Msg):
			m.figures.RequestMessages++
		case e.Kind == policy.Gave && e.Cause == policy.CausePassed:
			m.figures.TokenMoves++
		case e.Kind == policy.Took && e.Cause == policy.CauseRevived:
			m.figures.Regenerated++
		case e.Kind == policy.Run && *before != none:
			m.figures.ServiceTraffic = max(m.figures.ServiceTraffic, m.delivered-*before)
			*before = none
		}
	}
	return m.service.Watch(c, o)
}

// Figures returns the figures of the run until now.
func (m *Meter) Figures(now policy.Time) Figures {
	f := m.figures
	f.Served = m.service.Served(now)
	return f
}
