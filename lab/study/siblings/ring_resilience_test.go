package siblings

import (
	"math"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
)

// The two losses are drawn separately, and neither is counted as the other: with k = 3 a token on a ring of 50, half of
// which crash, is lost at once in 5 of 100 runs, and eventually in 84 more.
func TestARingLosesItsTokenAsOftenAsTheTheorySays(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	figures := figuresFive()
	for _, c := range []resilienceCase{
		{ringCase{&figures[1], 50}, 3}, {ringCase{&figures[1], 50}, 6}, {ringCase{&figures[0], 500}, 2},
	} {
		var runs []kcopies.Fate
		for seed := range uint64(300) {
			fate, err := runResilience(t.Context(), &c, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, fate)
		}
		once, lost := c.theory()
		total := 0.0
		for fate, want := range map[kcopies.Fate]float64{
			kcopies.Survives: 1 - lost, kcopies.LostEventually: lost - once, kcopies.LostAtOnce: once,
		} {
			row, _ := besideShare(c.name(), want, ended(runs, fate), len(runs))
			if math.Abs(row.Measured-want) > row.Half+0.02 {
				t.Errorf("%s, k = %d, %s: fate %d in %v of the runs, want %v", c.name(), c.k, c.figure.crash(), fate,
					row.Measured, want)
			}
			total += row.Measured
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("the shares add up to %v", total)
		}
	}
}

func TestNoTransactionIsLostAtAnyFrequency(t *testing.T) {
	deep.Only(t, "measures days of fleets")
	r, err := ringTranspeer().Run(t.Context(), study.Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Comparisons[0].Rows
	if rows[0].Measured != 0 || len(r.Tables[0].Rows) != len(transpeerFrequencies()) ||
		r.Wanted != 4*len(transpeerFrequencies()) {
		t.Errorf("%+v", rows)
	}
}

// Figure 6: "S8 monitors S6, S1, and S4 while S5 monitors S4, S1, S6, and S8".
func TestTheSetsOfFigure6AreBesideThePublishedOnes(t *testing.T) {
	table := figureSix()
	if len(table.Rows) != beyondK+1 {
		t.Fatalf("%d members in T", len(table.Rows))
	}
	if row := table.Rows[3]; !slices.Equal(row, []string{"S8", "predictable", "S4 S1 S6", "S6 S1 S4"}) {
		t.Errorf("%q", row)
	}
	if row := table.Rows[4]; row[1] != "monitor" || row[2] != row[3] {
		t.Errorf("%q", row)
	}
}

func TestWithoutMonitorsTheTokenIsLostMoreOften(t *testing.T) {
	r, err := ringBeyond().Run(t.Context(), study.Options{Seeds: 400})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Comparisons[0].Rows
	if both, one := rows[0], rows[3]; math.Abs(both.Measured-both.Published) > 3*both.Half ||
		one.Measured < 3*both.Measured {
		t.Errorf("%+v and %+v", both, one)
	}
}
