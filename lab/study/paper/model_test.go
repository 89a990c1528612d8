package paper

import (
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
)

// The model explains nothing unless it behaves like the machines without their messages.
func TestTheModelOfTheProseBehavesAsTheMachinesDo(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	const until, seeds = 150_000 * time.Second, 3
	for _, members := range fleets() {
		var machines []long
		var models []variantRun
		for seed := range uint64(seeds) {
			run, err := runLong(t.Context(), members, seed+1, until)
			if err != nil {
				t.Fatal(err)
			}
			machines = append(machines, run)
			models = append(models, variantRun{tally: runModel(prose(), members, seed+1, until.Seconds())})
		}
		for _, figure := range []struct {
			name      string
			ofMachine func(*long) float64
			ofModel   func(*variantRun) float64
			within    float64
		}{
			{
				"operations", func(l *long) float64 { return value(l.figures.Operations) },
				func(m *variantRun) float64 { return m.operations() }, 0.01,
			},
			{
				"time with one operation", func(l *long) float64 { return value(l.figures.Concurrency.At(1)) },
				func(m *variantRun) float64 { return at(m.spent, 1) }, 0.01,
			},
			{
				"tokens made", func(l *long) float64 { return value(l.figures.Tokens.Generated) },
				func(m *variantRun) float64 { return m.made }, 0.15,
			},
			{
				"intervals from 1000", func(l *long) float64 { return at(l.undisturbed.bins, 2) },
				func(m *variantRun) float64 { return at(m.bins, 2) }, 0.03,
			},
		} {
			machine, model := value(measure.EstimateBy(machines, figure.ofMachine).Mean),
				value(measure.EstimateBy(models, figure.ofModel).Mean)
			if math.Abs(model/machine-1) > figure.within {
				t.Errorf("N = %d, %s: the model has %.0f, the machines %.0f", members, figure.name, model, machine)
			}
		}
	}
}

func TestWithoutPrecedenceTheFleetIsMostlyWithoutAToken(t *testing.T) {
	for _, r := range readings() {
		if !r.anyOther {
			continue
		}
		if got := runModel(r, study.Nominal, 1, 200_000); got.tokenless < 100_000 {
			t.Errorf("%s: no token for %.0f of 200000", r.name, got.tokenless)
		}
	}
}

// The notes of wander-variants on the closest reading are true.
func TestTheClosestReadingGivesThePrintedNumbers(t *testing.T) {
	for fleet, want := range []struct{ from, to, deviation float64 }{{0.995, 1.005, 0.03}, {0.54, 0.58, 0.06}} {
		members := fleets()[fleet]
		runs := []variantRun{{tally: runModel(closest(), members, 1, longRun.Seconds())}}
		long := part(runs, fleet)
		if long < want.from || long > want.to {
			t.Errorf("N = %d: as many operations in %.3f of the run, want %v to %v", members, long, want.from, want.to)
		}
		if off := deviation(printed(fleet), scaled(runs, fleet, long)); off > want.deviation {
			t.Errorf("N = %d: off by %.3f on average, want %v at most", members, off, want.deviation)
		}
	}
}

func TestTheModelGetsOverALoss(t *testing.T) {
	for seed := range uint64(5) {
		if took := stabilisation(prose(), study.Nominal, seed, modelMax); took <= 0 || took > 100_000 {
			t.Errorf("seed %d: stable after %v", seed, took)
		}
	}
}

func TestAnAgendaIsInOrderOfTimeAndThenOfAsking(t *testing.T) {
	var g agenda
	for i, at := range []float64{5, 1, 3, 1, 5, 0} {
		g.add(at, i, true)
	}
	for _, want := range []int{5, 1, 3, 2, 0, 4} {
		if got := g.next().who; got != want {
			t.Errorf("next is %d, want %d", got, want)
		}
		g.drop()
	}
}
