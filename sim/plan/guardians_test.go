package plan

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
)

// fleetWith is a fleet in the long run, with or without simulated guardians.
func fleetWith(w Request, guarded bool) fleet {
	k, _ := recommend(&w)
	f := newFleet(&w, w.Members, &k)
	f.guarded = guarded
	return f
}

// While nothing is lost, guardians only hear that all is well. A fleet that is simulated without them does the same,
// and what they would send and the steps that they would take can be computed.
func TestGuardiansChangeNothingWhileNothingIsLost(t *testing.T) {
	for _, w := range []Request{
		{Walk: wander.Sweep, Backups: 2, Members: 40, Op: 4 * time.Second, Every: 4 * time.Minute, Skip: time.Second},
		{
			Walk: wander.Shuffle, Backups: 1, Members: 30, Op: 10 * time.Second, Every: 20 * time.Minute,
			Skip: 2 * time.Second,
		},
		{
			Walk: wander.Sweep, Backups: 4, Members: 20, Op: time.Minute, Every: 30 * time.Minute,
			Skip:    5 * time.Second,
			Latency: 50 * time.Millisecond,
		},
		{Walk: wander.Sweep, Backups: 3, Members: 3, Op: time.Second, Every: time.Minute, Skip: 50 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%v/N=%d/backups=%d", w.Walk, w.Members, w.Backups), func(t *testing.T) {
			without, with := fleetWith(w, false), fleetWith(w, true)
			a, err := without.simulate(t.Context(), 1, 20_000, 0)
			if err != nil {
				t.Fatal(err)
			}
			r := measured(&a.figures)
			b, err := with.simulate(t.Context(), 1, uint64(20_000*with.stepsPerSecond(r)/without.stepsPerSecond(r)), 0)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := float64(b.figures.Utilisation), float64(a.figures.Utilisation); math.Abs(got-want) > 0.01 {
				t.Errorf("with guardians %.4f of the time is busy, without %.4f", got, want)
			}
			got := float64(b.figures.Messages / b.figures.Duration)
			if want := float64(without.datagrams(&a.figures)); math.Abs(got-want) > 0.05*want {
				t.Errorf("%.3f datagrams a second are sent, and %.3f are computed", got, want)
			}
			if want := float64(without.inTheory().hops*datagramsPerHop +
				without.extra(without.inTheory())); math.Abs(got-want) > 0.25*want {
				t.Errorf("%.3f datagrams a second are sent, and theory has %.3f", got, want)
			}
			got = float64(b.steps-bootSteps*uint64(w.Members)) / float64(b.figures.Duration+b.figures.WarmUp)
			if want := with.stepsPerSecond(r); math.Abs(got-want) > 0.25*want {
				t.Errorf("a second takes %.1f steps, and %.1f are computed", got, want)
			}
		})
	}
}

// A guardian loses patience, asks for half as long, and revives the token.
func TestAGuardianReplacesAKilledHolder(t *testing.T) {
	for _, w := range []Request{
		{Walk: wander.Sweep, Backups: 1, Members: 2, Op: 4 * time.Second, Every: time.Minute, Skip: time.Second},
		{Walk: wander.Sweep, Backups: 2, Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: time.Second},
		{
			Walk: wander.Random, Backups: 4, Members: 400, Op: 3 * time.Minute, Every: 24 * time.Hour,
			Skip: 5 * time.Second,
		},
		{
			Walk: wander.Shuffle, Backups: 2, Members: 2_000, Op: time.Second, Every: 24 * time.Hour,
			Skip: 250 * time.Millisecond,
		},
	} {
		a, err := planWithin(t.Context(), w, effort{lossExperiment: 900_000})
		if err != nil {
			t.Fatal(err)
		}
		if l, skip := &a.Loss, w.Skip.Seconds(); l.Samples != mostSeeds || l.Recovered != mostSeeds || l.Crowd > 1 ||
			float64(l.Silence) > 1.75*skip || float64(l.LongestSilence) > 2.5*skip {
			t.Errorf("%d members, %v, skip %v: %+v", w.Members, w.Walk, w.Skip, *l)
		}
	}
}

// Without guardians, a network that loses tokens leaves a fleet idle for most of the time; with guardians, the fleet
// hardly suffers.
func TestGuardiansMakeUpForABadNetwork(t *testing.T) {
	w := Request{Walk: wander.Sweep, Members: 5, Op: time.Minute, Every: 10 * time.Minute, Loss: 0.4}
	var busy [2]float64
	for i, backups := range []int{0, 2} {
		w.Backups = backups
		a, err := planWithin(t.Context(), w, effort{fleet: 200_000, lossExperiment: 50_000, twice: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		busy[i] = float64(a.Expected.Busy.Mean)
		if a.Met != (backups > 0) || a.Expected.Lost.Mean <= 0 {
			t.Errorf("backups %d: met is %v, %v tokens lost a day", backups, a.Met, a.Expected.Lost.Mean)
		}
	}
	if busy[1] < 2*busy[0] {
		t.Errorf("busy %.3f without guardians, and %.3f with", busy[0], busy[1])
	}
}
