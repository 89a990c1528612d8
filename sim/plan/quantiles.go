package plan

import (
	"math"

	"github.com/wanderd/wanderd/sim/measure"
)

// Quantiles is a distribution of times.
type Quantiles struct {
	Mean measure.Estimate `json:"mean"`
	P50  measure.Number   `json:"p50"`
	P90  measure.Number   `json:"p90"`
	P99  measure.Number   `json:"p99"`
	// Longest is the maximum. It is NaN in theory, which has no maximum.
	Longest measure.Number `json:"longest"`
}

// quantiles returns the quantiles of sorted samples, without the mean.
func quantiles(sorted []float64) Quantiles {
	at := func(share float64) measure.Number {
		if len(sorted) == 0 {
			return measure.Number(math.NaN())
		}
		rank := max(1, int(math.Ceil(share*float64(len(sorted)))))
		return measure.Number(sorted[rank-1])
	}
	return Quantiles{P50: at(0.5), P90: at(0.9), P99: at(0.99), Longest: at(1)}
}

func exponential(mean float64) Quantiles {
	at := func(share float64) measure.Number { return measure.Number(-mean * math.Log1p(-share)) }
	return Quantiles{
		Mean: certain(mean), P50: at(0.5), P90: at(0.9), P99: at(0.99), Longest: measure.Number(math.NaN()),
	}
}

// later returns the distribution shifted by that many seconds.
func (q Quantiles) later(by float64) Quantiles {
	for _, n := range []*measure.Number{&q.Mean.Mean, &q.P50, &q.P90, &q.P99, &q.Longest} {
		*n += measure.Number(by)
	}
	return q
}

// certain returns a figure of theory, without samples and without a confidence interval.
func certain(v float64) measure.Estimate {
	return measure.Estimate{Mean: measure.Number(v), Half: measure.Number(math.NaN())}
}

// mean returns NaN without samples. It adds samples in order, so that every processor comes to the same last digit.
func mean(samples []float64) measure.Number {
	sum := 0.0
	for _, s := range samples {
		sum += s
	}
	return measure.Number(sum / float64(len(samples)))
}
