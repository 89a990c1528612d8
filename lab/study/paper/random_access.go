package paper

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
)

// randomAccess is table 1. It has no machines, because nothing is coordinated.
func randomAccess() study.Experiment {
	return study.Surveyed(study.Experiment{
		Name: "random-access", Title: "Random access: how many operations run at once", Source: "table 1, section 2",
		Shows: "A random delay on a timer does not prevent overlaps: with twice the members, two or more operations run for half of " +
			"the time.",
	}, fleets(), study.Usually[int](10), func(_ context.Context, members *int, seed uint64) ([]float64, error) {
		return accessAtRandom(*members, seed, longRun), nil
	}, func(runs [][][]float64) study.Result {
		all := compareFleets("Random access", "operations at once", "s", 1, 1, tableOne(), runs,
			means(func(spent *[]float64, row int) float64 { return at(*spent, row+1) }))
		for i := range all {
			all[i].Notes = []string{noiseNote(all[i], len(runs[i]))}
		}
		return study.Result{
			Comparisons: all, Plots: drawn("random-access", all, true),
			Verdict: "reproduced, both columns",
			Notes: []string{
				"The model: operations of Δop = 4. The next one begins Δmin plus a random delay after the last one began. The delay is a whole " +
					"number of units from [0, Δmin/2), evenly distributed. Each member begins anywhere in a first period. The delay is in " +
					"whole units because the published tables contain 0.09 % more operations than a continuous delay would give.",
				"1292 for five at once, N = 150, is four standard deviations from what any independent members give (1179); 1192 would be none. " +
					"It may be a misprint.",
			},
		}
	})
}

// accessAtRandom returns the seconds with each number of operations at once: "each component issues a service request
// periodically, without any form of coordination. The period between two given requests is based on a system wide period Δmin
// perturbed by a random bias, chosen in the interval [0, Δmin/2]" (section 2).
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
	// All operations take the same time, so that they end in the order in which they start.
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
