package paper

import (
	"math"

	"github.com/wanderd/wanderd/lab/study"
)

// The numbers as printed, by the order of their rows. Ciuffoletti prints a dash for none; that is zero here.

// column is what a table prints for one number of members.
type column struct {
	members int
	rows    []float64
}

// tableOne is "Random access: distribution of the number of concurrent operation on a shared resource" (table 1), for
// one operation and more.
func tableOne() []column {
	return []column{
		{150, []float64{360945, 144035, 38048, 7535, 1292, 149, 8, 1, 0, 0, 0}},
		{300, []float64{322428, 258358, 138910, 55138, 17644, 4670, 1017, 172, 26, 3, 2}},
	}
}

// tableThree is "Wandering token: distribution of the number of concurrent operation on a shared resource" (table 3),
// for one operation and more.
func tableThree() []column {
	return []column{
		{150, []float64{661678, 4275, 19, 0, 0, 0, 0, 0, 0, 0}},
		{300, []float64{378512, 80719, 8485, 616, 30, 0, 4, 0, 2, 2}},
	}
}

// tableFour is "Wandering token: distribution of the intervals between successive firing of the protected operation"
// (table 4), in bins of 500 units from 500.
func tableFour() []column {
	return []column{
		{150, []float64{123817, 35750, 6311, 585, 1, 0, 0, 0, 0}},
		{300, []float64{64785, 41289, 17251, 3029, 134, 3, 3, 2, 1}},
	}
}

// tableFive is "Wandering token: duration of stabilization after a token loss event" (table 5), in bins of 5000 units
// from
// 10000. The caption has 100 transients; those of N=300 add up to 99.
func tableFive() []column {
	return []column{
		{150, []float64{39, 4, 13, 10, 10, 13, 7, 2, 2, 0, 0, 0, 0, 0, 0}},
		{300, []float64{1, 2, 2, 3, 12, 12, 22, 8, 14, 7, 6, 6, 2, 1, 1}},
	}
}

// operationTime returns the total time of all operations of a table of concurrency.
func (c column) operationTime() float64 {
	total := 0.0
	for i, units := range c.rows {
		total += float64(i+1) * units
	}
	return total
}

// sum returns the sum of the rows: the time with at least one operation, or the number of intervals.
func (c column) sum() float64 {
	total := 0.0
	for _, v := range c.rows {
		total += v
	}
	return total
}

// operations returns the number of operations in a table of concurrency.
func (c column) operations() float64 { return c.operationTime() / study.Op.Seconds() }

// quantile returns the lower end of the bin in which the share p of the counts is reached. The first bin begins at
// from.
func (c column) quantile(p, from, width float64) float64 {
	reached := 0.0
	for i, n := range c.rows {
		if reached += n; reached >= p*c.sum() {
			return from + float64(i)*width
		}
	}
	return math.NaN()
}
