package measure

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The quantiles of intervals come from a histogram of fixed size, in microseconds, which is exact to three digits. The
// bins of the published tables are counted separately, one by one.
const (
	resolution = time.Microsecond
	digits     = 3
)

// paperBin is the width of the bins in Ciuffoletti's table 4.
const paperBin = 500 * time.Second

type intervals struct {
	bin     time.Duration
	counts  map[int64]int
	spread  *hdrhistogram.Histogram
	longest time.Duration
}

func newIntervals(bin time.Duration) intervals {
	if bin <= 0 {
		bin = paperBin
	}
	return intervals{
		bin: bin, counts: map[int64]int{}, spread: hdrhistogram.New(1, math.MaxInt64/int64(resolution), digits),
	}
}

func (d *intervals) add(t time.Duration) {
	d.counts[int64(t/d.bin)]++
	d.longest = max(d.longest, t)
	// The histogram covers every possible duration.
	_ = d.spread.RecordValue(int64(t / resolution))
}

func (d *intervals) begin() {
	clear(d.counts)
	d.spread.Reset()
	d.longest = 0
}

// quantile returns NaN if there are no durations.
func (d *intervals) quantile(percent float64) Number {
	if d.spread.TotalCount() == 0 {
		return Number(math.NaN())
	}
	return seconds(min(time.Duration(d.spread.ValueAtPercentile(percent))*resolution, d.longest))
}

// figures returns the percentiles, the maximum, and the bins that are not empty.
func (d *intervals) figures() Intervals[Number] {
	f := Intervals[Number]{P50: d.quantile(50), P90: d.quantile(90), P99: d.quantile(99), Max: Number(math.NaN())}
	if len(d.counts) > 0 {
		f.Max = seconds(d.longest)
	}
	for _, b := range slices.Sorted(maps.Keys(d.counts)) {
		f.Histogram = append(f.Histogram, Entry[Number]{
			Key: (time.Duration(b) * d.bin).Seconds(), Value: Number(d.counts[b]),
		})
	}
	return f
}
