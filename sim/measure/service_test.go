package measure_test

import (
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// served tells a service what happens at members, and when.
type served struct{ *measure.Service }

func (s served) step(at time.Duration, member int, event policy.EventKind, effects ...policy.Effect) {
	_ = s.Watch(nil, &sim.Occurrence{
		Kind: sim.Stepped, At: policy.Time(at), Member: member, Event: &policy.Event{Kind: event}, Effects: effects,
	})
}

func TestTheServiceOfDemands(t *testing.T) {
	run, send := policy.Effect{Kind: policy.Run}, policy.Effect{Kind: policy.Send}
	s := served{measure.NewService(3)}
	s.step(0, 0, policy.Wanted, send)
	s.step(time.Second, 0, policy.Woke, run)
	s.step(2*time.Second, 1, policy.Wanted, send, send)
	s.step(3*time.Second, 1, policy.Wanted) // the member waits already
	s.step(5*time.Second, 0, policy.Finished)
	s.step(5*time.Second, 1, policy.Received, run)
	s.step(6*time.Second, 2, policy.Wanted)
	s.step(7*time.Second, 2, policy.Unwanted)
	s.step(8*time.Second, 2, policy.Woke, run) // nobody waits for this run
	s.step(9*time.Second, 1, policy.Finished)
	s.step(10*time.Second, 2, policy.Finished)
	got := s.Served(policy.Time(20 * time.Second))
	want := measure.Served{
		Demands: 3, Runs: 2, Datagrams: 3, Fairness: 16.0 / (2 * (1 + 9)), Busy: 0.45, Overlap: 0.05,
		Obtaining: measure.Obtaining{P50: 1, P90: 3, P99: 3, Max: 3, Mean: 2},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-3*math.Max(a, b) }
	g, w := got.Obtaining, want.Obtaining
	if got.Demands != want.Demands || got.Runs != want.Runs || got.Datagrams != want.Datagrams ||
		!near(got.Fairness, want.Fairness) ||
		!near(got.Busy, want.Busy) || !near(got.Overlap, want.Overlap) ||
		!near(g.P50, w.P50) || !near(g.P90, w.P90) || !near(g.P99, w.P99) || !near(g.Max, w.Max) ||
		!near(g.Mean, w.Mean) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if none := measure.NewService(1).Served(1); !math.IsNaN(none.Fairness) || !math.IsNaN(none.Obtaining.P50) {
		t.Errorf("of nothing: %+v", none)
	}
}
