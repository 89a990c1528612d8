package measure

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
)

func TestNothingCountsBeforeTheMeasurementBegins(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet})
	s.hands(10, 0, policy.CauseMade, 1)
	s.start(10, 0)
	s.finish(20, 0)
	s.pass(20, 0, 1, 1)
	s.arrive(21, 0, 1, 1)
	s.start(21, 1)
	s.finish(22, 1)
	s.pass(22, 1, 0, 1)
	s.arrive(23, 1, 0, 1)
	if f := s.meter.Figures(at(23)); f.WarmUp != 0 || f.Operations != 2 {
		t.Errorf("warming up, %v s and %v operations: want all of it", f.WarmUp, f.Operations)
	}
	s.pass(24, 0, 1, 1)
	s.arrive(25, 0, 1, 1)
	s.meter.Begin(at(25))
	s.start(30, 0)
	s.finish(32, 0)
	f := s.meter.Figures(at(35))
	if f.WarmUp != 25 || f.Duration != 10 || f.Concurrency.At(1) != 2 || f.Operations != 1 || f.Hops != 0 ||
		f.Messages != 0 {
		t.Errorf("after the warm-up: %+v", f)
	}
	if f.Tokens.Generated != 0 || f.Tokens.Live.At(1) != 10 {
		t.Errorf("tokens %+v, want the old one for 10 s", f.Tokens)
	}
	// The interval began before the measurement and ended in it.
	if f.Interval.Max != 20 {
		t.Errorf("longest interval %v, want 20", f.Interval.Max)
	}
}
