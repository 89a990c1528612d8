package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

func TestBinsAreRoundAndFitTheInterval(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{
		600 * time.Second: 500 * time.Second, time.Minute: 50 * time.Second, time.Second: time.Second,
		24 * time.Hour: 50_000 * time.Second, 1999 * time.Millisecond: time.Second, 2 * time.Second: 2 * time.Second,
		time.Nanosecond: time.Microsecond,
	} {
		if got := bin(interval); got != want {
			t.Errorf("%v: %v, want %v", interval, got, want)
		}
	}
}

// histogram returns the chart of a result with one run of these bins.
func histogram(t *testing.T, seeds int, bins ...measure.Entry[measure.Number]) report.Chart {
	t.Helper()
	r := Result{batch: batch[measure.Figures]{Scenario: fleetOf(t, seeds), Complete: seeds}}
	for range seeds {
		var f measure.Figures
		f.Interval.Histogram = bins
		r.Runs = append(r.Runs, f)
	}
	return r.Chart()
}

func TestAChartHasEmptyBins(t *testing.T) {
	b := histogram(t, 2, measure.Entry[measure.Number]{Key: 50, Value: 7},
		measure.Entry[measure.Number]{Key: 200, Value: 1})
	if !slices.Equal(b.Labels, []string{"50", "100", "150", "200"}) ||
		!slices.Equal(b.Curves[0].Y, []float64{7, 0, 0, 1}) {
		t.Errorf("%v %v", b.Labels, b.Curves[0].Y)
	}
	if len(b.Curves[0].Halves) != 4 {
		t.Errorf("of two runs there are intervals: %v", b.Curves[0].Halves)
	}
	if one := histogram(t, 1, measure.Entry[measure.Number]{Key: 50, Value: 7}); one.Curves[0].Halves != nil {
		t.Errorf("of one run there is no interval: %v", one.Curves[0].Halves)
	}
}

func TestTheLastBarContainsAllLongerIntervals(t *testing.T) {
	b := histogram(t, 1, measure.Entry[measure.Number]{Key: 0, Value: 9},
		measure.Entry[measure.Number]{Key: 5000, Value: 2},
		measure.Entry[measure.Number]{Key: 1e6, Value: 1})
	if n := len(b.Labels); n != maxBars || b.Labels[n-1] != "1950 …" || b.Curves[0].Y[n-1] != 3 {
		t.Errorf("%d bars, the last of %s with %v", n, b.Labels[n-1], b.Curves[0].Y[n-1])
	}
}

func TestAChartMayBeEmpty(t *testing.T) {
	if b := histogram(t, 1); len(b.Labels) != 0 || b.Terminal(80) == "" {
		t.Errorf("%+v", b)
	}
}
