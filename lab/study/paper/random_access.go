package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/report"
)

// randomAccess is table 1. It has no machines, because nothing is coordinated.
func randomAccess() study.Experiment {
	return study.Surveyed("random-access", fleets(), study.Usually[int](10),
		func(_ context.Context, members *int, seed uint64) ([]float64, error) {
			return accessAtRandom(*members, seed, longRun), nil
		}, func(runs [][][]float64) study.Result {
			all := compareFleets("Random access", "operations at once", "s", 1, 1, tableOne(), runs,
				means(func(spent *[]float64, row int) float64 { return at(*spent, row+1) }))
			var noise []study.Figures
			for i, members := range fleets() {
				noise = append(noise, noiseOf(members, all[i], len(runs[i])))
			}
			return study.Result{
				Comparisons: all, Plots: drawn("random-access", all, true), Figures: study.Figures{"fleets": noise},
			}
		})
}

// noiseOf tells how many of the published numbers could be chance: 95 % of all runs lie within that many standard
// deviations of the mean, which the other runs estimate.
func noiseOf(members int, c report.Comparison, runs int) study.Figures {
	var outside []string
	for _, r := range c.Rows {
		if math.Abs(r.Published-r.Measured) > r.Half*math.Sqrt(float64(runs+1)) {
			outside = append(outside, r.Label)
		}
	}
	return study.Figures{
		"members": members, "deviates": runs > 1, "within": len(c.Rows) - len(outside), "of": len(c.Rows),
		"outside": outside,
	}
}

// accessAtRandom returns the seconds with each number of operations at once: "each component issues a service request
// periodically, without any form of coordination. The period between two given requests is based on a system wide
// period Δmin perturbed by a random bias, chosen in the interval [0, Δmin/2]" (section 2).
func accessAtRandom(members int, seed uint64, until time.Duration) []float64 {
	dice := rand.New(rand.NewPCG(seed, uint64(members)))
	period := func() time.Duration {
		return study.MinInterval + time.Duration(dice.Int64N(int64(study.MinInterval/2/time.Second)))*time.Second
	}
	var starts []time.Duration
	for range members {
		first := time.Duration(dice.Int64N(int64(period())))
		for at := first; at < until; at += period() {
			starts = append(starts, at)
		}
	}
	slices.Sort(starts)
	// All operations take the same time, so they end in the order in which they start.
	var spent []float64
	now, ended := time.Duration(0), 0
	advance := func(to time.Duration, running int) {
		spent = addTo(spent, running, (to - now).Seconds())
		now = to
	}
	for i, start := range starts {
		for ; starts[ended]+study.Op <= start; ended++ {
			advance(starts[ended]+study.Op, i-ended)
		}
		advance(start, i-ended)
	}
	for ; ended < len(starts) && starts[ended]+study.Op <= until; ended++ {
		advance(starts[ended]+study.Op, len(starts)-ended)
	}
	advance(until, len(starts)-ended)
	return spent
}
