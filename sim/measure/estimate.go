package measure

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is that of all intervals given.
const confidence = 0.95

// Estimate is what samples say of a figure.
type Estimate struct {
	// Samples is how many runs have the figure.
	Samples int
	// Mean is not a number if none has it.
	Mean Number
	// Half is half the width of the 95 % confidence interval of the mean, by Student's t; not a number for fewer than two
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

// EstimateOf returns what samples say of a figure. Their order makes no difference, down to the last digit; those that are
// not numbers do not count.
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

// Across returns what runs say that differ in their seed only. The order of the runs makes no difference.
func Across(runs []Figures) Summary {
	of := func(figure func(*Figures) Number) Estimate {
		samples := make([]Number, len(runs))
		for i := range runs {
			samples[i] = figure(&runs[i])
		}
		return EstimateOf(samples...)
	}
	table := func(pick func(*Figures) Table[Number]) Table[Estimate] { return tableAcross(runs, pick) }
	spread := func(pick func(*Figures) *Spread[Number]) Spread[Estimate] {
		return Spread[Estimate]{
			Count: of(func(f *Figures) Number { return pick(f).Count }),
			P50:   of(func(f *Figures) Number { return pick(f).P50 }),
			P90:   of(func(f *Figures) Number { return pick(f).P90 }),
			Max:   of(func(f *Figures) Number { return pick(f).Max }),
		}
	}
	return Summary{
		Duration:    of(func(f *Figures) Number { return f.Duration }),
		WarmUp:      of(func(f *Figures) Number { return f.WarmUp }),
		Concurrency: table(func(f *Figures) Table[Number] { return f.Concurrency }),
		Utilisation: of(func(f *Figures) Number { return f.Utilisation }),
		Overlap:     of(func(f *Figures) Number { return f.Overlap }),
		Operations:  of(func(f *Figures) Number { return f.Operations }),
		Interval: Intervals[Estimate]{
			P50:       of(func(f *Figures) Number { return f.Interval.P50 }),
			P90:       of(func(f *Figures) Number { return f.Interval.P90 }),
			P99:       of(func(f *Figures) Number { return f.Interval.P99 }),
			Max:       of(func(f *Figures) Number { return f.Interval.Max }),
			Open:      of(func(f *Figures) Number { return f.Interval.Open }),
			Histogram: table(func(f *Figures) Table[Number] { return f.Interval.Histogram }),
		},
		Tokens: Tokens[Estimate]{
			Generated: of(func(f *Figures) Number { return f.Tokens.Generated }),
			Revived:   of(func(f *Figures) Number { return f.Tokens.Revived }),
			Removed:   of(func(f *Figures) Number { return f.Tokens.Removed }),
			Lost:      of(func(f *Figures) Number { return f.Tokens.Lost }),
			Live:      table(func(f *Figures) Table[Number] { return f.Tokens.Live }),
		},
		Hops:                 of(func(f *Figures) Number { return f.Hops }),
		Messages:             of(func(f *Figures) Number { return f.Messages }),
		MessagesPerOperation: of(func(f *Figures) Number { return f.MessagesPerOperation }),
		Recovery:             spread(func(f *Figures) *Spread[Number] { return &f.Recovery }),
		Tokenless:            spread(func(f *Figures) *Spread[Number] { return &f.Tokenless }),
		HeldAgain:            spread(func(f *Figures) *Spread[Number] { return &f.HeldAgain }),
		OneForGood:           spread(func(f *Figures) *Spread[Number] { return &f.OneForGood }),
	}
}

// tableAcross has every key that any run has; where one lacks it, its value is zero.
func tableAcross(runs []Figures, pick func(*Figures) Table[Number]) Table[Estimate] {
	var keys []float64
	for i := range runs {
		for _, e := range pick(&runs[i]) {
			keys = append(keys, e.Key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	t := make(Table[Estimate], len(keys))
	samples := make([]Number, len(runs))
	for k, key := range keys {
		for i := range runs {
			samples[i] = pick(&runs[i]).At(key)
		}
		t[k] = Entry[Estimate]{Key: key, Value: EstimateOf(samples...)}
	}
	return t
}
