package measure

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level of all confidence intervals.
const confidence = 0.95

// Estimate is the estimate of a figure from samples.
type Estimate struct {
	// Samples is the number of runs that have the figure.
	Samples int
	// Mean is NaN if no run has it.
	Mean Number
	// Half is half the width of the 95 % confidence interval of the mean, by Student's t; NaN for fewer than two
	// samples.
	Half Number
}

// MarshalJSON writes mean, low and high: the ends of the confidence interval.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mean Number `json:"mean"`
		Low  Number `json:"low"`
		High Number `json:"high"`
	}{e.Mean, e.Mean - e.Half, e.Mean + e.Half})
}

// EstimateOf estimates a figure. The order of the samples makes no difference, down to the last digit. Samples that are
// NaN do not count.
func EstimateOf(samples ...Number) Estimate {
	values := make([]float64, 0, len(samples))
	for _, s := range samples {
		if v := float64(s); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	e := Estimate{Samples: len(values), Mean: Number(math.NaN()), Half: Number(math.NaN())}
	switch n := float64(len(values)); {
	case n == 0:
	case n == 1:
		e.Mean = Number(values[0])
	default:
		mean, deviation := stat.MeanStdDev(values, nil)
		t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
		e.Mean, e.Half = Number(mean), Number(t*deviation/math.Sqrt(n))
	}
	return e
}

// EstimateBy estimates a figure of some runs.
func EstimateBy[T any, N ~float64](runs []T, figure func(*T) N) Estimate {
	samples := make([]Number, len(runs))
	for i := range runs {
		samples[i] = Number(figure(&runs[i]))
	}
	return EstimateOf(samples...)
}

// Across summarises runs that differ only in their seed. Their order makes no difference.
func Across(runs []Figures) Summary {
	var all Summary
	samples := make([]Number, len(runs))
	for k, figure := range all.numbers() {
		for i := range runs {
			samples[i] = *runs[i].numbers()[k]
		}
		*figure = EstimateOf(samples...)
	}
	for k, table := range all.tables() {
		var keys []float64
		for i := range runs {
			for _, e := range *runs[i].tables()[k] {
				keys = append(keys, e.Key)
			}
		}
		slices.Sort(keys)
		// All keys of all runs. A key that a run lacks counts as zero.
		*table = Table[Estimate]{}
		for _, key := range slices.Compact(keys) {
			for i := range runs {
				samples[i] = runs[i].tables()[k].At(key)
			}
			*table = append(*table, Entry[Estimate]{Key: key, Value: EstimateOf(samples...)})
		}
	}
	return all
}
