package plan

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/seeds"
)

// task is a fleet to simulate: for budget steps in the long run, and then for lossExperiment steps after a loss. If
// budget is 0, the loss comes at once.
type task struct {
	fleet                  fleet
	budget, lossExperiment uint64
}

// The number of seeds that share the work of a task. With more, the confidence interval is better known; with fewer,
// less work goes into starts.
const (
	mostSeeds, leastSeeds = 8, 2
	stepsPerMember        = 40
)

// seeds returns the number of seeds. It is 0 if the work is too little to show anything.
func (t *task) seeds() int {
	if t.budget == 0 {
		return mostSeeds
	}
	seeds := max(leastSeeds, min(mostSeeds, t.budget/(stepsPerMember*uint64(t.fleet.members))))
	for ; seeds >= leastSeeds; seeds-- {
		if settle, whole := t.fleet.durations(t.budget / seeds); settle < whole {
			return int(seeds)
		}
	}
	return 0
}

// run does the work of one seed. It is no error if the work ends before the run.
func (t *task) run(ctx context.Context, seed uint64) (r run, err error) {
	if share := uint64(t.seeds()); t.budget == 0 {
		r, err = t.fleet.killHolder(ctx, seed, t.lossExperiment/share)
	} else {
		r, err = t.fleet.simulate(ctx, seed, t.budget/share, t.lossExperiment/share)
	}
	if errors.Is(err, errSpent) {
		err = nil
	}
	return r, err
}

// simulateAll runs all seeds of all tasks on all cores. The result does not depend on the number of cores.
func simulateAll(ctx context.Context, seed uint64, tasks []task) ([][]run, error) {
	var of []int
	for i := range tasks {
		of = append(of, slices.Repeat([]int{i}, tasks[i].seeds())...)
	}
	done, err := seeds.Across(ctx, 0, nil, len(of), func(ctx context.Context, job int) (run, error) {
		return tasks[of[job]].run(ctx, seed+uint64(job))
	})
	if err != nil {
		return nil, err
	}
	runs := make([][]run, len(tasks))
	for job, r := range done {
		runs[of[job]] = append(runs[of[job]], r)
	}
	return runs, nil
}

func forecast(f *fleet, runs []run) Forecast {
	estimate := func(figure func(*run) measure.Number) measure.Estimate { return measure.EstimateBy(runs, figure) }
	daily := func(count func(*measure.Figures) measure.Number) measure.Estimate {
		return estimate(func(r *run) measure.Number { return secondsPerDay * count(&r.figures) / r.figures.Duration })
	}
	minInterval, busy := f.constants.MinInterval.Seconds(), f.busy()
	made := Forecast{
		Members: f.members, Load: f.theory.load(minInterval),
		Busy:        estimate(func(r *run) measure.Number { return inUse(&r.figures, f.constants.Slots) }),
		Overlap:     estimate(func(r *run) measure.Number { return r.figures.Overlap }),
		Datagrams:   estimate(func(r *run) measure.Number { return f.datagrams(&r.figures) }),
		FalseAlarms: daily(func(m *measure.Figures) measure.Number { return m.Tokens.Removed }),
		Lost:        daily(func(m *measure.Figures) measure.Number { return m.Tokens.Lost }),
		Theory: Theory{
			Busy: busy, Wait: f.wait(), Interval: f.theory.interval(busy), Lap: f.theory.lap(busy),
		},
		Simulated: Simulated{Seeds: len(runs)},
	}
	var waits []float64
	for i := range runs {
		waits = append(waits, runs[i].waits...)
		made.Simulated.Duration += float64(runs[i].figures.Duration)
		made.Simulated.Operations += int(runs[i].figures.Operations)
		made.Simulated.Steps += runs[i].steps
	}
	slices.Sort(waits)
	made.Wait = quantiles(waits)
	made.Wait.Mean = estimate(func(r *run) measure.Number { return mean(r.waits) })
	if made.FromTheory = len(waits) < fewWaits; made.FromTheory {
		made.Busy, made.Wait = certain(busy), f.waitInTheory()
	}
	if math.IsNaN(float64(made.Datagrams.Mean)) {
		r := f.inTheory()
		made.Datagrams = certain(datagramsPerHop*r.hops + f.extra(r))
	}
	made.Interval = made.Wait.later(minInterval)
	return made
}

// inUse returns the share of time in which a token is in use.
func inUse(m *measure.Figures, slots int) measure.Number {
	spent := measure.Number(0)
	for _, e := range m.Concurrency {
		spent += measure.Number(min(e.Key, float64(slots))) * e.Value
	}
	return spent / (measure.Number(slots) * m.Duration)
}

func (f *fleet) waitInTheory() Quantiles {
	if f.constants.Walk == wander.Random {
		return exponential(f.wait())
	}
	none := measure.Number(math.NaN())
	return Quantiles{Mean: certain(f.wait()), P50: none, P90: none, P99: none, Longest: none}
}

// fewWaits is the least number of waits for a distribution.
const fewWaits = 100
