package paper

import (
	"math"
	"testing"
)

// A table of concurrency leaves some idle time, and not a negative one. The paper's text tells how much time the table
// accounts for.
func TestTheColumnsOfTableThreeAndIdleTimeAddUpToTheRun(t *testing.T) {
	for i, want := range []struct{ busy, operationTime float64 }{{665972, 670285}, {468370, 568085}} {
		c := tableThree()[i]
		if c.sum() != want.busy || c.operationTime() != want.operationTime {
			t.Errorf("N = %d: busy %v, operation time %v; want %v, %v", c.members, c.sum(), c.operationTime(),
				want.busy, want.operationTime)
		}
		if idle := longRun.Seconds() - c.sum(); idle <= 0 {
			t.Errorf("N = %d: idle for %v", c.members, idle)
		}
	}
}

// Every member runs 4 of about 749.5 units, whatever the others do.
func TestTableOneAccountsForAsManyOperationsAsThereAre(t *testing.T) {
	for _, c := range tableOne() {
		want := float64(c.members) * longRun.Seconds() * 4 / 749.5
		if got := c.operationTime(); math.Abs(got/want-1) > 0.001 {
			t.Errorf("N = %d: operations take %v, want %v", c.members, got, want)
		}
	}
}

// "more than one protected operation running is less than 0.5% of the total duration", "while using the random access
// algorithm this amounts to more than 15%"; "10%" and "40%" where the system is overloaded (section 6).
func TestThePublishedTablesAgreeWithTheirText(t *testing.T) {
	shared := func(c column) float64 { return (c.sum() - c.rows[0]) / longRun.Seconds() }
	for _, tc := range []struct {
		what     string
		got      float64
		from, to float64
	}{
		{"table 3, N = 150", shared(tableThree()[0]), 0, 0.005},
		{"table 1, N = 150", shared(tableOne()[0]), 0.15, 0.2},
		{"table 3, N = 300", shared(tableThree()[1]), 0.085, 0.1},
		{"table 1, N = 300", shared(tableOne()[1]), 0.4, 0.5},
		// "during stable operation we observed 8 time units over 10⁶ where more than 5 protected operations were
		// running"
		{"table 3, N = 300, more than five", column{rows: tableThree()[1].rows[5:]}.sum(), 8, 8},
		// "only 9 intervals […] are longer than 3000"
		{"table 4, N = 300, 3000 and more", column{rows: tableFour()[1].rows[5:]}.sum(), 9, 9},
	} {
		if tc.got < tc.from || tc.got > tc.to {
			t.Errorf("%s: %v, want %v to %v", tc.what, tc.got, tc.from, tc.to)
		}
	}
}

func TestTableFourAddsUp(t *testing.T) {
	for i, want := range []float64{166464, 126497} {
		if got := tableFour()[i].sum(); got != want {
			t.Errorf("N = %d: %v intervals, want %v", fleets()[i], got, want)
		}
	}
}

// What wander-intervals says about table 4 is true: the intervals of N = 150 fill the run; those of N = 300 fill less
// than half of it.
func TestTheIntervalsOfTableFourFillTheRunOnlyWithTheNominalFleet(t *testing.T) {
	covered := func(fleet int, within float64) float64 {
		sum := 0.0
		for i, n := range tableFour()[fleet].rows {
			sum += n * (float64(i+1)*paperBin.Seconds() + within)
		}
		return sum / (float64(fleets()[fleet]) * longRun.Seconds())
	}
	if low, high := covered(0, 0), covered(0, 500); low > 1 || high < 1 {
		t.Errorf("N = 150: between %.2f and %.2f of the run", low, high)
	}
	if high := covered(1, 500); high > 0.6 {
		t.Errorf("N = 300: up to %.2f of the run", high)
	}
}

func TestTableFiveHasAHundredLossesAndNinetyNine(t *testing.T) {
	for i, want := range []float64{100, 99} {
		if got := tableFive()[i].sum(); got != want {
			t.Errorf("N = %d: %v losses, want %v", fleets()[i], got, want)
		}
	}
}

func TestAQuantileOfAPublishedColumnIsTheLowerEndOfItsBin(t *testing.T) {
	c := column{rows: []float64{1, 0, 3}}
	for p, want := range map[float64]float64{0.25: 10, 0.26: 20, 1: 20} {
		if got := c.quantile(p, 10, 5); got != want {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}
