package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConcurrencyAddsUpToTheTimeThatWasMeasured(t *testing.T) {
	s := tell(t, Config{Members: 3})
	s.start(10, 0)
	s.start(11, 1)
	s.finish(12.5, 0)
	s.start(12.5, 2)
	s.finish(14, 1)
	s.finish(15, 2)
	f := s.meter.Figures(at(100))
	if want := (Table[Number]{{0, 95}, {1, 2}, {2, 3}}); !cmp.Equal(f.Concurrency, want) {
		t.Errorf("concurrency %v, want %v", f.Concurrency, want)
	}
	if f.Utilisation != 0.05 || f.Overlap != 0.03 || f.Operations != 3 {
		t.Errorf("utilisation %v, overlap %v, operations %v", f.Utilisation, f.Overlap, f.Operations)
	}
}

func TestAnOperationEndsWithItsProcess(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.start(10, 0)
	s.crash(13, 0)
	s.crash(20, 1)
	if f := s.meter.Figures(at(100)); f.Concurrency.At(1) != 3 {
		t.Errorf("concurrency %v, want 3 s with one", f.Concurrency)
	}
}

func TestFiguresInTheMiddleOfAnOperationDoNotDisturbIt(t *testing.T) {
	s := tell(t, Config{Members: 1})
	s.start(10, 0)
	if f := s.meter.Figures(at(12)); f.Concurrency.At(1) != 2 || f.Duration != 12 {
		t.Errorf("after 12 s: %v", f.Concurrency)
	}
	s.finish(14, 0)
	if f := s.meter.Figures(at(20)); f.Concurrency.At(1) != 4 || f.Concurrency.At(0) != 16 {
		t.Errorf("after 20 s: %v", f.Concurrency)
	}
}

// "The bins are floors (a value in [500, 1000) counts as 500)."
func TestIntervalsAreCountedInBinsCalledByTheirFloor(t *testing.T) {
	s := tell(t, Config{Members: 1})
	for _, when := range []float64{0, 600, 1600, 2599.999999999, 4599.999999999} {
		s.start(when, 0)
		s.finish(when+4, 0)
	}
	f := s.meter.Figures(at(5000))
	if want := (Table[Number]{{500, 2}, {1000, 1}, {2000, 1}}); !cmp.Equal(f.Interval.Histogram, want) {
		t.Errorf("histogram %v, want %v", f.Interval.Histogram, want)
	}
	if f.Interval.Max != 2000 {
		t.Errorf("longest interval %v", f.Interval.Max)
	}
}

func TestIntervalsAreOfOneMemberAndGoOnOverACrash(t *testing.T) {
	s := tell(t, Config{Members: 2, Bin: time.Second})
	s.start(5, 0)
	s.start(6, 1)
	s.crash(7, 1)
	s.occur(100, 1, came())
	s.start(106, 1)
	if got, want := s.meter.Figures(at(200)).Interval.Histogram, (Table[Number]{{100, 1}}); !cmp.Equal(got, want) {
		t.Errorf("histogram %v, want %v", got, want)
	}
}

func TestQuantilesAreRightToThreeDigits(t *testing.T) {
	s := tell(t, Config{Members: 1})
	when := 0.0
	for i := range 1001 {
		s.start(when, 0)
		s.finish(when, 0)
		when += 600 + float64(i)
	}
	i := s.meter.Figures(at(when)).Interval
	for _, q := range []struct {
		name      string
		got, want Number
	}{{"p50", i.P50, 1099}, {"p90", i.P90, 1499}, {"p99", i.P99, 1589}, {"max", i.Max, 1599}} {
		if d := q.got/q.want - 1; d < -1e-3 || d > 2e-3 {
			t.Errorf("%s is %v, want %v", q.name, q.got, q.want)
		}
	}
}

// A member that starves ends no interval, and must be seen all the same.
func TestTheIntervalThatIsNotOverIsShown(t *testing.T) {
	s := tell(t, Config{Members: 3})
	for when := 0.0; when < 1000; when += 10 {
		s.start(when, 0)
		s.finish(when+1, 0)
	}
	s.crash(30, 2)
	s.start(400, 1)
	if i := s.meter.Figures(at(1000)).Interval; i.Max != 10 || i.Open != 600 {
		t.Errorf("longest %v, open %v, want 10 and 600", i.Max, i.Open)
	}
}

// Figure 1: "the number of protected operations running for each time unit".
func TestBusyTimeIsSplitWhereItCrossesUnits(t *testing.T) {
	s := tell(t, Config{Members: 2, Unit: time.Second})
	s.meter.Begin(at(100.5))
	s.start(101, 0)
	s.start(103, 1)
	s.finish(103.25, 1)
	s.finish(105, 0)
	want := []time.Duration{500e6, 1e9, 1250e6, 1e9, 500e6, 0}
	if got := s.meter.Busy(at(106.5)); !cmp.Equal(got, want) {
		t.Errorf("busy %v, want %v", got, want)
	}
}
