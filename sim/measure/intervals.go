package measure

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The quantiles of intervals come from a histogram of fixed size: exact to three digits, in microseconds. The bins of the
// published tables are counted one by one besides.
const (
	resolution = time.Microsecond
	digits     = 3
)

// paperBin is the width of the bins in Ciuffoletti's table 4.
const paperBin = 500 * time.Second

// intervals is a distribution of durations.
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
	// Every duration there can be is within the histogram's range.
	_ = d.spread.RecordValue(int64(t / resolution))
}

func (d *intervals) begin() {
	clear(d.counts)
	d.spread.Reset()
	d.longest = 0
}

// figures returns the percentiles, the greatest of all, and the bins that are not empty.
func (d *intervals) figures() Intervals[Number] {
	none := Number(math.NaN())
	f := Intervals[Number]{P50: none, P90: none, P99: none, Max: none}
	if d.spread.TotalCount() == 0 {
		return f
	}
	quantile := func(percent float64) Number {
		t := time.Duration(d.spread.ValueAtPercentile(percent)) * resolution
		return Number(min(t, d.longest).Seconds())
	}
	f.P50, f.P90, f.P99, f.Max = quantile(50), quantile(90), quantile(99), Number(d.longest.Seconds())
	bins := make([]int64, 0, len(d.counts))
	for b := range d.counts {
		bins = append(bins, b)
	}
	slices.Sort(bins)
	for _, b := range bins {
		floor := time.Duration(b) * d.bin
		f.Histogram = append(f.Histogram, Entry[Number]{Key: floor.Seconds(), Value: Number(d.counts[b])})
	}
	return f
}
