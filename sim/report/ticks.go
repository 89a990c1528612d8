package report

import "math"

// tick is a mark on an axis.
type tick struct {
	value float64
	label string
}

// maxTicks is the greatest number of marks with a number on an axis.
const maxTicks = 7

// linearTicks returns marks at round numbers.
func linearTicks(low, high float64) []tick {
	step := roundStep((high - low) / maxTicks)
	var ticks []tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		ticks = append(ticks, tick{i * step, grouped(i * step)})
	}
	return ticks
}

// roundStep returns the least of 1, 2, 5, 10, 20… and their tenths that is not less than d.
func roundStep(d float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(d)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= d*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// decadeTicks returns marks at the powers of ten and, if these are few, also at their doubles and fives. The values are
// above zero.
func decadeTicks(low, high float64) []tick {
	first, last := math.Ceil(math.Log10(low)-1e-9), math.Floor(math.Log10(high)+1e-9)
	every, multiples := max(1, math.Ceil((last-first+1)/maxTicks)), []float64{1}
	if last-first <= 1 {
		first, multiples = first-1, []float64{1, 2, 5}
	}
	var ticks []tick
	for e := first; e <= last; e += every {
		for _, m := range multiples {
			if v := m * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				ticks = append(ticks, tick{v, grouped(v)})
			}
		}
	}
	return ticks
}

// ends returns the ends of the horizontal axis.
func (c *Chart) ends() (from, to float64) {
	if c.Bars {
		return -0.5, max(float64(len(c.Labels))-0.5, 0.5)
	}
	from, to = math.Inf(1), math.Inf(-1)
	for _, k := range c.Curves {
		if n := len(k.X); n > 0 {
			from, to = min(from, k.X[0]), max(to, k.X[n-1])
		}
	}
	switch {
	case from > to:
		return 0, 1
	case from == to:
		return from - 0.5, to + 0.5
	}
	return from, to
}

// span returns the ends of the axis on which values are drawn, in a picture and on a terminal.
func (c *Chart) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, k := range c.Curves {
		for _, v := range k.Y {
			if c.drawn(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	switch {
	case low > high && c.Logarithmic:
		return 1, 10
	case low > high:
		return 0, 1
	case c.Logarithmic:
		// Half a decade below the least value, so that its bar can be seen.
		return low / math.Sqrt(10), high * 1.3
	}
	low, high = min(low, 0), max(high, 0)
	if low == high {
		high = 1
	}
	return low, high + 0.03*(high-low)
}
